import { stripTypeScriptTypes } from "node:module";
import { afterEach, expect, test, vi } from "vitest";
import * as admin from "../src/admin/index.ts";
import * as sdk from "../src/index.ts";
import * as messages from "../src/messages/index.ts";
import { declares, examples, tenLines, titleOf } from "./support/examples.ts";
import { newStorage, openBrowser, openShop, type Shop, signOn } from "./support/shop.ts";

/** Runs the README's examples against a real service and identity provider. */

const PAGE = "https://shop.example/signed-in";
const modules: Record<string, object> = {
  "@latchkey/sdk": sdk,
  "@latchkey/sdk/admin": admin,
  "@latchkey/sdk/messages": messages,
};

afterEach(() => void vi.unstubAllGlobals());

async function openReadmeShop() {
  const shop = await openShop({ publicUrl: "http://localhost:4000" });
  vi.stubGlobal("fetch", shop.fetch);
  vi.stubGlobal("localStorage", newStorage());
  return shop;
}

/** Loads a page, and loads it again at each redirect URI to which the shopper returns. */
async function run(shop: Shop, example: string): Promise<string[]> {
  const lines: string[] = [];
  const { clientId, clientSecret } = shop.f.store.key;
  const script = stripTypeScriptTypes(example)
    .replaceAll("lkid_…", clientId)
    .replaceAll("lksk_…", clientSecret)
    .replaceAll(/^import (\{.*\}) from ("[^"]+");$/gm, "const $1 = modules[$2];");
  const page = shop.page();
  const back = await signOn(shop, page);
  const given = {
    modules,
    console: { log: (...words: unknown[]) => void lines.push(words.join(" ")) },
    shop: page,
    token: await page.completeSignOn(back),
  };
  const names = Object.keys(given).filter((name) => !declares(example, name));
  const AsyncFunction = (async () => {}).constructor as typeof Function;
  const load = AsyncFunction(...names, script);
  for (let next: string | undefined = PAGE; next !== undefined; ) {
    let sentTo: string | undefined;
    const assign = (url: string) => {
      sentTo = url;
    };
    vi.stubGlobal("location", {
      href: next,
      origin: new URL(PAGE).origin,
      pathname: new URL(PAGE).pathname,
      assign,
    });
    await load(...names.map((name) => given[name as keyof typeof given]));
    if (sentTo === undefined) break;
    const returned = await openBrowser(shop).go(sentTo);
    // Only a page that calls `completeSignOn` continues there.
    next = example.includes("completeSignOn") ? returned : undefined;
  }
  return lines;
}

const EXPECTED: Record<string, RegExp[]> = {
  "Sign a shopper in": [/^Welcome Ada Lovelace$/],
  "One button for each identity provider": [/^Hostile $/],
  "E-mail and password": [/^Signed in until \w{3} /],
  "The signed-in customer": [/^Hostile this one$/],
  "When something goes wrong": [/^state_unknown This sign-in has ended or was started in another browser\./],
  "In the shopper's language": [/^E-Mail-Adresse oder Passwort ist falsch\.$/],
  Options: [/^access_token POST .*200$/, /^settings GET .*200$/, /^providers GET .*200$/],
  Administration: [/^lkid_\w+ lksk_\w+$|^R1 met|^for await /, /@shop\.example$|^R2 |^\d+ events/],
};

test.each(examples.map((example, index) => [index + 1, titleOf(example), example] as const))(
  "example %i works as printed: %s",
  async (_, title, example) => {
    const lines = await run(await openReadmeShop(), example);
    const expected = EXPECTED[title] ?? [];
    expect(expected.length, `what to expect under "${title}"`).toBeGreaterThan(0);
    for (const [index, line] of expected.entries()) expect(lines[index]).toMatch(line);
  },
);

test("the ten lines of the repository's README work as printed, and remove the used code from the URL", async () => {
  const addresses: string[] = [];
  const replaceState = (_state: null, _unused: string, url: string) => void addresses.push(url);
  vi.stubGlobal("history", { replaceState });
  expect(await run(await openReadmeShop(), tenLines)).toHaveLength(1);
  expect(addresses).toEqual([new URL(PAGE).pathname]);
});

test("a sign-on takes ten lines, administration five", () => {
  const lengthOf = (example: string | undefined) =>
    example?.split("\n").filter((line) => /\w/.test(line)).length;
  for (const example of [tenLines, examples[0]]) expect(lengthOf(example)).toBeLessThanOrEqual(10);
  expect(lengthOf(examples.find((example) => example.includes("/admin")))).toBeLessThanOrEqual(5);
});
