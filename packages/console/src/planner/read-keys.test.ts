import { createAdmin } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { readKeys } from "./read-keys.ts";

test("every key of the store can be planned for, also those of a second page", async () => {
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
