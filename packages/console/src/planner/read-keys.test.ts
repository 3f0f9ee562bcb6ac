import { createAdmin } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { readKeys } from "./read-keys.ts";

test("readKeys reads the keys of every page", async () => {
  const fetch = async (url: string) => {
    const isSecond = new URL(url).searchParams.has("page[after]");
    const next = isSecond ? null : "https://keys.example/v2/application-keys?page%5Bafter%5D=x";
    return Response.json({
      data: isSecond ? [{ id: "101" }] : Array.from({ length: 100 }, (_, at) => ({ id: `${at + 1}` })),
      meta: { page: { limit: 100, offset: 0 }, results: { total: 101 }, rate_limit: 500 },
      links: { next },
    });
  };
  const admin = createAdmin({ baseUrl: "https://keys.example", accessToken: () => "token", fetch });
  const { data, meta } = await readKeys(admin);
  expect([data.length, data.at(-1)?.id, meta.rate_limit]).toEqual([101, "101", 500]);
});

test("an aborted signal stops the reading", async () => {
  const leaving = new AbortController();
  let asked = 0;
  const fetch = async () => {
    if (++asked === 3) leaving.abort();
    return Response.json({
      data: [{ id: `${asked}` }],
      meta: { page: { limit: 100, offset: 0 }, results: { total: 9999 }, rate_limit: 500 },
      links: { next: `https://keys.example/v2/application-keys?page%5Bafter%5D=${asked}` },
    });
  };
  const admin = createAdmin({ baseUrl: "https://keys.example", accessToken: () => "token", fetch });
  await expect(readKeys(admin, leaving.signal)).rejects.toThrow("aborted");
  expect(asked).toBe(3);
});
