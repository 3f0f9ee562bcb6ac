import { readFileSync } from "node:fs";

type Cells = readonly (string | number)[];

export const markdownTable = (head: Cells, rows: readonly Cells[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

export const pageUrl = (path: string): URL => new URL(`../../${path}`, import.meta.url);

/**
 * The page at `path`, with each part between `<!-- name -->` and `<!-- until here -->` replaced by the text of that
 * name.
 */
export function pageWith(path: string, parts: Record<string, string>): string {
  return Object.entries(parts).reduce(
    (page, [name, text]) => {
      const between = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- until here -->)`);
      if (!between.test(page)) throw new Error(`${path} has no place for ${name}`);
      return page.replace(between, (_, begin, end) => `${begin}\n${text}\n\n${end}`);
    },
    readFileSync(pageUrl(path), "utf8"),
  );
}
