import { readdirSync, readFileSync } from "node:fs";
import * as sdk from "@latchkey/sdk";
import { transformWithOxc } from "vite";
import { describe, expect, test } from "vitest";
import { knownProviders } from "../../packages/server/src/contract/known-providers.ts";

/**
 * Examples for frameworks that are not installed here: they must at least be valid TypeScript, and use existing members
 * of the SDK.
 */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const guides = readdirSync(new URL("../../docs/guides", import.meta.url), {
  recursive: true,
  encoding: "utf8",
})
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/guides/${name}`);
const blocks = [...guides, "README.md", "packages/sdk/README.md"].flatMap((path) =>
  [...read(path).matchAll(/```(tsx?|js|html)\n([\s\S]*?)```/g)].map(
    ([, language = "", code = ""], index) => [`${path}, ${language} ${index + 1}`, language, code] as const,
  ),
);

/** The values that an example imports from the SDK, and the methods that it calls on a storefront. */
const shop = sdk.createStorefront({ baseUrl: "http://localhost:4000", clientId: "lkid_x" });

test("a recipe with allowed scopes names every scope that the guides' storefronts request", () => {
  const asked = guides.flatMap((path) => [...read(path).matchAll(/scope: "(openid email profile)"/g)]);
  expect(asked.length).toBeGreaterThan(2);
  const steps = knownProviders.flatMap((provider) =>
    provider.steps.filter((step) => /\bscopes? /i.test(step)),
  );
  expect(steps.length).toBeGreaterThan(2);
  for (const step of steps) expect(step.toLowerCase()).toMatch(/email.*profile/);
});

describe("the code of", () => {
  test.each(blocks)("%s compiles, and uses existing exports alone", async (_, language, code) => {
    const script =
      language === "html" ? (code.match(/<script type="module">([\s\S]*?)<\/script>/)?.[1] ?? "") : code;
    await transformWithOxc(script, "example.tsx");
    for (const [, names = ""] of script.matchAll(/import \{([^}]*)\} from "@latchkey\/sdk"/g))
      for (const name of names.split(",").map((part) => part.trim()))
        if (name !== "" && !name.startsWith("type ")) expect(Object.keys(sdk)).toContain(name);
    for (const [, method = ""] of script.matchAll(/\bshop\s*\.(\w+)\(/g))
      expect(Object.keys(shop)).toContain(method);
  });
});
