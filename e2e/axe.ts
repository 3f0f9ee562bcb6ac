import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe-core finds wrong with a page as it stands, one line a fault: empty where all is well. */
export async function faultsOf(page: Page): Promise<string[]> {
  // Movement changes colours while it lasts, and what is measured then is nobody's.
  await page.evaluate(async () => {
    await Promise.all(document.getAnimations().map((one) => one.finished.catch(() => undefined)));
  });
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    async (): Promise<axe.AxeResults> =>
      (globalThis as unknown as { axe: { run(): Promise<axe.AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ""}`),
  );
}
