import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createHttpServer } from "../src/http/server.ts";

test.each([
  ["ASCII", "plain"],
  ["Latin-1", "Zoë"],
  ["more than that", "Žofie 🛒"],
  ["nothing", ""],
])("a text of %s arrives on a port as UTF-8, with its length in bytes", async (_, body) => {
  const server = createHttpServer({
    publicUrl: "http://localhost:4000",
    serve: async () => ({ status: 200, headers: {}, body }),
    onRefused: () => {},
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes).toEqual(Buffer.from(body, "utf8"));
    expect(answer.headers.get("content-length")).toBe(String(bytes.length));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
