import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A receiver of webhooks that does nothing but say 204: as quick as one can be. Tells its parent its port. */
const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(204).end());
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
