import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { contrast } from "../pages/accent.ts";
import { colourOf, withTokens } from "./look.ts";

const tokens = readFileSync(new URL("tokens.css", import.meta.url), "utf8");

describe("the shared look", () => {
  test("a style gets the tokens that it names, in light and dark, and no other", () => {
    const style = withTokens("a { color: var(--pine); }");
    expect(style.match(/--[\w-]+(?=:)/g)).toEqual(["--pine", "--pine"]);
    expect(style).toContain("color-scheme: light dark;");
    expect(style).toContain(colourOf("dark", "pine"));
  });

  test("a token that does not exist is an error", () => {
    expect(() => colourOf("light", "teal")).toThrow("no light colour teal");
  });

  test.each(["light", "dark"] as const)("%s: text has enough contrast on every ground (AA)", (scheme) => {
    for (const text of ["ink", "quiet", "pine", "alder", "good", "warn", "bad"])
      for (const ground of ["paper", "card"])
        expect(
          contrast(colourOf(scheme, text), colourOf(scheme, ground)),
          `${text} on ${ground}`,
        ).toBeGreaterThanOrEqual(4.5);
    for (const text of ["ink", "quiet"])
      expect(
        contrast(colourOf(scheme, text), colourOf(scheme, "sunken")),
        `${text} on sunken`,
      ).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colourOf(scheme, "on-pine"), colourOf(scheme, "pine"))).toBeGreaterThanOrEqual(4.5);
  });

  test("is the only place of this service with a colour: its pages and the API reference name tokens", () => {
    const known = new Set([...tokens.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
    // A logo stands on white, and an accent is moved towards black or white. A message about colours has an example.
    const allowed = new Set(["#fff", "#000000", "#ffffff"]);
    for (const folder of ["pages", "reference"])
      for (const file of readdirSync(new URL(`../${folder}`, import.meta.url))) {
        if (!/(?<!\.test)\.(ts|css)$/.test(file)) continue;
        const text = readFileSync(new URL(`../${folder}/${file}`, import.meta.url), "utf8");
        const own = new Set([...text.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
        for (const [colour] of text.matchAll(/#[0-9a-f]{6}\b|#[0-9a-f]{3}\b/gi))
          expect(allowed, `${file}: ${colour}`).toContain(colour);
        for (const [, name = ""] of text.matchAll(/var\((--[\w-]+)\)/g))
          expect(known.has(name) || own.has(name), `${file}: ${name}`).toBe(true);
      }
  });
});
