import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A line `<!-- examples/next/lib/shop.ts -->` before a block of code: the content of this file replaces the block. */
const MARKED = /^(<!-- (\S+\/\S+\.\w+|\S+\/\.\S+) -->\n+```(\w+)\n)[\s\S]*?(^```$)/gm;

const root = new URL("..", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** The pages of docs/ with such blocks, by path. */
export function pagesWithExamples(): Record<string, string> {
  const pages = readdirSync(fileURLToPath(new URL("docs", root)), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  const shown = pages.map((path) => {
    const text = read(path);
    return [
      path,
      text.replaceAll(MARKED, (_, head, file, __, end) => head + read(file) + end),
      text,
    ] as const;
  });
  return Object.fromEntries(
    shown.filter(([, , text]) => text.match(MARKED)).map(([path, filled]) => [path, filled]),
  );
}
