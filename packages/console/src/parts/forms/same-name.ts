/**
 * Whether the typed text equals a name as it is displayed. A page shows several spaces as one, and no
 * direction marks; an accent may be part of a letter or a combining mark. An empty text never matches, even
 * if the name is invisible.
 */
export const isSameName = (typed: string, name: string): boolean =>
  typed !== "" && seen(typed) === seen(name);

const seen = (text: string): string =>
  text
    .normalize()
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();
