import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The violations that axe-core finds in the page: the rule, and the first element that breaks it. */
export async function barriersOf(page: Page): Promise<string[]> {
  // Runs in the page's world without being one of its scripts, so the page's policy stays in force for everything else.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  // Colours change during an animation, so wait for its end.
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
        .map((one) => one.finished.catch(() => undefined)),
    ),
  );
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          of: unknown,
          options: object,
        ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}
