import { request } from "node:http";
import { expect, test } from "vitest";
import { listenOnLoopback } from "./loopback.ts";

const statusOf = (url: string, init: { method?: string; headers?: Record<string, string> } = {}) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, { agent: false, ...init }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode));
    })
      .on("error", reject)
      .end();
  });

test("only a GET of /callback with the right state and host is the answer", async () => {
  const { redirectUri, answered, close } = await listenOnLoopback("right");
  const { origin, port } = new URL(redirectUri);
  const right = `${redirectUri}?state=right&code=lkac_1`;
  expect(await statusOf(`${origin}/?state=right&code=x`)).toBe(404);
  expect(await statusOf(right, { method: "POST" })).toBe(404);
  // A name that a stranger has pointed at 127.0.0.1.
  expect(await statusOf(right, { headers: { host: `stranger.example:${port}` } })).toBe(404);
  expect(await statusOf(`${redirectUri}?code=x`)).toBe(400);
  expect(await statusOf(`${redirectUri}?state=wrong&code=x`)).toBe(400);
  expect(await statusOf(`${redirectUri}?state=right&state=wrong&code=x`)).toBe(400);
  const waiting = answered(10_000);
  expect(await statusOf(right)).toBe(200);
  expect((await waiting).get("code")).toBe("lkac_1");
  close();
});

test("without an answer the command ends", async () => {
  const { answered, close } = await listenOnLoopback("right");
  await expect(answered(1)).rejects.toThrow("not finished in time");
  close();
});

test("the port is the system's choice, and nothing listens after the answer", async () => {
  const [one, other] = [await listenOnLoopback("a"), await listenOnLoopback("b")];
  expect(one.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect(one.redirectUri).not.toBe(other.redirectUri);
  one.close();
  other.close();
  await expect(statusOf(one.redirectUri)).rejects.toThrow("ECONNREFUSED");
});
