/** Finds names by what a person types: each typed word must begin a word of the name, in any order. */

/** Without accents and case: "Élodie" is found by "elo". */
const plain = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();

const wordsOf = (text: string): string[] =>
  plain(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

export function isMatch(typed: string, name: string): boolean {
  const words = wordsOf(name);
  const wanted = wordsOf(typed);
  return wanted.length > 0 && wanted.every((part) => words.some((word) => word.startsWith(part)));
}

/** The items that match, those first whose name begins with the text. Equal items keep their order. */
export function matching<T>(
  items: readonly T[],
  typed: string,
  nameOf: (item: T) => string,
  textOf: (item: T) => string = nameOf,
): T[] {
  const found = items.filter((item) => isMatch(typed, textOf(item)));
  const isFirst = (item: T) => plain(nameOf(item)).startsWith(plain(typed.trim()));
  return [...found.filter(isFirst), ...found.filter((item) => !isFirst(item))];
}
