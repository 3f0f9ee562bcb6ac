import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { contrast } from "../../packages/server/src/http/pages/accent.ts";

/**
 * The README's picture does not know the colour of the page around it, nor whether the page follows the reader's
 * system.
 */

const picture = readFileSync(new URL("../../docs/two-legs.svg", import.meta.url), "utf8");
const [light = "", dark = ""] = (/<style>([\s\S]*)<\/style>/.exec(picture)?.[1] ?? "").split("@media");

/** The fill and stroke of a class; later rules win. */
const colorOf = (sheet: string, name: string): string | undefined =>
  [...sheet.matchAll(/([^{}]+)\{([^}]*)\}/g)]
    .filter(([, selectors = ""]) => new RegExp(`\\.${name}\\b`).test(selectors))
    .flatMap(([, , body = ""]) => [...body.matchAll(/(?:fill|stroke): (#[0-9a-f]{6})/g)])
    .at(-1)?.[1];

test("the picture › has a background of its own", () => {
  expect(picture).toMatch(/<rect class="ground" width="960" height="430"/);
});

test("the picture › has the colours of the console", () => {
  const files = ["server/src/http/look/tokens.css", "console/src/styles/tokens.css"];
  const tokens = files.map((path) =>
    readFileSync(new URL(`../../packages/${path}`, import.meta.url), "utf8"),
  );
  for (const [colour] of picture.matchAll(/#[0-9a-f]{6}/g)) expect(tokens.join()).toContain(colour);
});

test.each([
  ["light", light],
  ["dark", dark],
])("the picture › every word and arrow is legible in %s", (_, sheet) => {
  for (const name of ["name", "what", "step", "quiet", "leg1", "leg2", "tag1", "tag2"])
    for (const ground of ["ground", "card"]) {
      // The dark sheet names the fill of a card before its stroke.
      const back = new RegExp(`\\.${ground} \\{ fill: (#[0-9a-f]{6})`).exec(sheet)?.[1] ?? "";
      expect(contrast(colorOf(sheet, name) ?? "", back), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
});
