import { readFileSync } from "node:fs";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const codeOf = (page: string): string[] =>
  [...page.matchAll(/```(?:ts|js)\n([\s\S]*?)```/g)].map((match) => match[1] as string);

/** The code blocks of the README. */
const readme = read("../../README.md");
export const examples: readonly string[] = codeOf(readme);

/** The code block of the repository's README. */
export const [tenLines = ""] = codeOf(read("../../../../README.md"));

/** Whether an example declares a name, which later examples may use. */
export const declares = (example: string, name: string): boolean =>
  new RegExp(`const ${name}\\b|const \\{[^}]*\\b${name}\\b[^}]*\\} =`).test(example);

/** The heading above an example, and its number. */
export const titleOf = (example: string): string => {
  const before = readme.slice(0, readme.indexOf(example));
  return (
    before
      .match(/^#+ .*$/gm)
      ?.at(-1)
      ?.replace(/^#+ /, "") ?? ""
  );
};
