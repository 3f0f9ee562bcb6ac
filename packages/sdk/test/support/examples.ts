import { readFileSync } from "node:fs";

/** The code blocks of the README. */
const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

export const examples: readonly string[] = [...readme.matchAll(/```(?:ts|js)\n([\s\S]*?)```/g)].map(
  (match) => match[1] as string,
);

/** What the text says before the first example is made: those that follow may use it. */
export const declares = (example: string, name: string): boolean =>
  new RegExp(`const ${name}\\b|const \\{[^}]*\\b${name}\\b[^}]*\\} =`).test(example);

/** The heading under which an example stands, and its number. */
export const titleOf = (example: string): string => {
  const before = readme.slice(0, readme.indexOf(example));
  return (
    before
      .match(/^#+ .*$/gm)
      ?.at(-1)
      ?.replace(/^#+ /, "") ?? ""
  );
};
