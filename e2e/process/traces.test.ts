import { createServer } from "node:http";
import { expect, test } from "vitest";
import { createStore, getToken, newPlace, serve } from "../support/running.ts";

/** `latchkey serve` as a process, with a collector on a socket. */

test("a service with LATCHKEY_OTLP_URL sends its waiting spans before it stops", async () => {
  const bodies: string[] = [];
  const collector = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(`${request.headers.authorization} ${request.url} ${Buffer.concat(chunks)}`);
    response.end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const { port } = collector.address() as { port: number };
  const place = await newPlace();
  place.env.LATCHKEY_OTLP_URL = `http://user:secret@127.0.0.1:${port}`;
  const running = await serve(place);
  const headers = { authorization: `Bearer ${await getToken(place.url, await createStore(place))}` };
  expect((await fetch(`${place.url}/v2/store`, { headers })).status).toBe(200);
  running.child.kill("SIGTERM");
  expect(await running.exited).toBe(0);
  collector.closeAllConnections();
  collector.close();
  place.leave();
  const [first = ""] = bodies;
  expect(first).toContain(
    `Basic ${Buffer.from("user:secret").toString("base64")} /v1/traces {"resourceSpans"`,
  );
  expect(bodies.join("\n")).toContain('"name":"GET /v2/store"');
  expect(running.logLines().join("\n")).not.toContain("secret");
});

test("a service without a reachable collector starts, serves and stops as usual", async () => {
  const place = await newPlace();
  place.env.LATCHKEY_OTLP_URL = "http://127.0.0.1:9";
  const running = await serve(place);
  const headers = { authorization: `Bearer ${await getToken(place.url, await createStore(place))}` };
  for (let i = 0; i < 20; i++) expect((await fetch(`${place.url}/v2/store`, { headers })).status).toBe(200);
  running.child.kill("SIGTERM");
  expect(await running.exited).toBe(0);
  place.leave();
});
