import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Each colour and typeface by its name, of light and of dark. */
function tokensOf(path: string): Map<string, string> {
  const css = readFileSync(new URL(path, import.meta.url), "utf8").replaceAll(/\/\*.*?\*\//gs, "");
  const [light = "", dark = ""] = css.split("prefers-color-scheme: dark");
  const read = (part: string, mode: string) =>
    [...part.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name, value = ""]): [string, string] => [
      `${mode} ${name}`,
      value.replaceAll(/\s+/g, " ").trim(),
    ]);
  return new Map([...read(light, "light"), ...read(dark, "dark")]);
}

/** The shop is wider and rounder. */
const OWN = /--(round|gutter)$/;

test("console and demo shop have one paper, one ink and one pine: what has the same name is the same", () => {
  const [ours, theirs] = [tokensOf("tokens.css"), tokensOf("../../../demo/src/storefront/styles/ground.css")];
  const shared = [...ours].filter(([name]) => theirs.has(name) && !OWN.test(name));
  expect(shared.length).toBeGreaterThan(30);
  expect(Object.fromEntries(shared)).toEqual(
    Object.fromEntries(shared.map(([name]) => [name, theirs.get(name)])),
  );
});
