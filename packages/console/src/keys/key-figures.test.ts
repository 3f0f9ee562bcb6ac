import { expect, test } from "vitest";
import { requestsInWords } from "./key-figures.ts";

const played = (minutes: number, asked?: number) => ({
  observed: { from: new Date(0).toISOString(), to: new Date(minutes * 60_000).toISOString() },
  keys: asked === undefined ? [] : [{ id: "k", asked }],
});

test("the requests of a key are those of the last hour", () => {
  expect(requestsInWords(played(60, 1204), "k")).toBe("1,204 requests with this key in the last hour.");
  expect(requestsInWords(played(59.99, 1), "k")).toBe("1 request with this key in the last hour.");
});

test("a key that the answer does not list sent no request", () => {
  expect(requestsInWords(played(60), "k")).toBe("No request with this key in the last hour.");
});

test("after a start of the service the sentence names the shorter time", () => {
  expect(requestsInWords(played(7, 3), "k")).toBe("3 requests with this key in the last 7 minutes.");
  expect(requestsInWords(played(0.1, 3), "k")).toBe("3 requests with this key in the last minute.");
});
