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

const SHARED = "../../../server/src/http/look/tokens.css";
/** The console's own tokens come after the shared ones. */
const ofConsole = () => new Map([...tokensOf(SHARED), ...tokensOf("tokens.css")]);

/** The shop is wider and rounder. */
const OWN = /--(round|gutter)$/;

test("tokens with the same name have the same value in the console and the demo shop", () => {
  const [ours, theirs] = [ofConsole(), tokensOf("../../../demo/src/storefront/styles/ground.css")];
  const shared = [...ours].filter(([name]) => theirs.has(name) && !OWN.test(name));
  expect(shared.length).toBeGreaterThan(30);
  expect(Object.fromEntries(shared)).toEqual(
    Object.fromEntries(shared.map(([name]) => [name, theirs.get(name)])),
  );
});

/** Relative luminance of `#rrggbb` (WCAG 2). */
function luminanceOf(color: string): number {
  const linear = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return linear.reduce((sum, value, at) => sum + value * ([0.2126, 0.7152, 0.0722][at] ?? 0), 0);
}

function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

test("the console redefines no shared token", () => {
  const shared = tokensOf(SHARED);
  expect([...tokensOf("tokens.css").keys()].filter((name) => shared.has(name))).toEqual([]);
});

test("every colour of the limit's bar has a contrast of 3:1 with its card (WCAG 1.4.11)", () => {
  const tokens = ofConsole();
  const figures = readFileSync(new URL("figures.css", import.meta.url), "utf8");
  const shares = [...figures.matchAll(/\.share-\w+ {\s*fill: var\((--[\w-]+)\)/g)].map(([, name]) => name);
  expect(shares).toHaveLength(7);
  for (const mode of ["light", "dark"])
    for (const share of shares) {
      const contrast = contrastOf(tokens.get(`${mode} ${share}`) ?? "", tokens.get(`${mode} --card`) ?? "");
      expect(contrast, `${mode} ${share}`).toBeGreaterThanOrEqual(3);
    }
});
