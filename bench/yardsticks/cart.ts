import { answerJson, listen, tellReady } from "./node-http.ts";

/** A service behind a gateway, on bare `node:http`: believes what the gateway says, and answers a small cart. */
const url = await listen(async (request, response) =>
  answerJson(response, 200, { customer: request.headers["x-latchkey-customer"] ?? null, items: ["tea"] }),
);
tellReady({ url });
