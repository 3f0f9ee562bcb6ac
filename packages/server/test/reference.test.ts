import { beforeAll, describe, expect, test } from "vitest";
import { operations } from "../src/contract/operations.ts";
import { problems } from "../src/contract/problems.ts";
import { createTestApp } from "./support/app.ts";

/** The API reference as served, before any script has run. */

let page: string;
let ids: string[];

beforeAll(async () => {
  const latchkey = await createTestApp();
  page = await (await latchkey.app.fetch(new Request("http://internal/docs"))).text();
  ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string);
  await latchkey.close();
});

describe("the reference", () => {
  test("has every operation of the contract and every problem, each with an anchor of its own", () => {
    for (const { id } of operations) expect(ids).toContain(id);
    for (const code of Object.keys(problems)) expect(ids).toContain(`problem-${code}`);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("has a target for each of its own links", () => {
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id as string);
    expect(links.length).toBeGreaterThan(operations.length);
    for (const link of links) expect(ids).toContain(link);
  });

  test("shows for each operation a command that needs the reader's values alone", () => {
    const commands = [...page.matchAll(/<pre[^>]*><code>([^<]*)<\/code>/g)].map(([, text]) => text as string);
    expect(commands.length).toBeGreaterThanOrEqual(operations.length);
    for (const command of commands) {
      expect(command).toMatch(/^curl /);
      expect(command).not.toMatch(/[{]\w+[}]|undefined|\[object/);
    }
  });

  test("escapes everything from schemas: no markup comes from the document", () => {
    const written =
      /<(?!\/?(?:!doctype|html|head|meta|title|link|script|body|a|header|h[1-4]|p|nav|details|summary|ul|li|main|form|div|label|input|button|section|article|span|code|em|strong|textarea|pre|output|dl|dt|dd)\b)/;
    expect(page).not.toMatch(written);
  });
});
