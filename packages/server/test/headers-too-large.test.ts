import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "../src/contract/operations.ts";
import { problemBody } from "../src/contract/shapes.ts";
import { createHttpServer } from "../src/http/server.ts";
import { newId } from "../src/lib/ids.ts";
import { observe } from "./support/observed.ts";

const server = createHttpServer({
  publicUrl: "http://localhost:4000",
  serve: async () => {
    throw new Error("a header block of 17 KB has reached a route");
  },
  onRefused: () => {},
});
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The same for every operation, because the parser refuses the headers before there is a path. */
test.each(operations.map((operation) => [operation.id, operation] as const))(
  "431 for a header block over 16 KB: %s",
  async (_, { id, method, path }) => {
    const { port } = server.address() as AddressInfo;
    const sent = request({
      port,
      method,
      path: path.replaceAll(/\{\w+\}/g, () => newId()),
      headers: { cookie: "x".repeat(17 * 1024) },
    });
    sent.end();
    const [answer] = await once(sent, "response");
    const body = JSON.parse(await text(answer));
    expect(answer.statusCode).toBe(431);
    expect(problemBody.safeParse(body).error?.issues ?? []).toEqual([]);
    expect(body.errors[0].code).toBe("headers_too_large");
    observe(id, "headers_too_large");
  },
);
