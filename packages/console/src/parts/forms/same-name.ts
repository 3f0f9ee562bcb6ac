/**
 * Whether somebody has typed the name that they see. A page shows several spaces as one, and signs that turn the direction not at all; an
 * accent may be a letter's own or a sign behind it. An empty field is nobody's name, also where there is nothing to be seen of it.
 */
export const isSameName = (typed: string, name: string): boolean =>
  typed !== "" && seen(typed) === seen(name);

const seen = (text: string): string =>
  text
    .normalize()
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();
