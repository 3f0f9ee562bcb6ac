/** The meaning of a search text, which may have been heard on the telephone. */
export type Meant =
  | { kind: "email"; email: string }
  | { kind: "id"; id: string }
  | { kind: "client_id"; clientId: string }
  /** `reference`: the words read as a reference, if they have its form. */
  | { kind: "words"; words: string; reference?: string };

/**
 * A reference has eight characters of Crockford's Base32, without O, I, L and U. O is read as 0, I and L as
 * 1; text with a U is no reference. Dashes, spaces and case do not matter. "Michelle", "John Hill" and the
 * number 10482217 have the form of a reference too, so the search looks for a reference and for names.
 */
export function interpret(typed: string): Meant | undefined {
  const text = typed.trim();
  if (text === "") return undefined;
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text))
    return { kind: "id", id: text.toLowerCase() };
  if (/^lkid_\w+$/.test(text)) return { kind: "client_id", clientId: text };
  if (/^[^\s@]+@\S+$/.test(text)) return { kind: "email", email: text };
  const bare = text
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replaceAll(/[IL]/g, "1");
  const canBeReference = /^[0-9A-HJKMNP-TV-Z]{8}$/.test(bare);
  return {
    kind: "words",
    words: text,
    ...(canBeReference && { reference: `${bare.slice(0, 4)}-${bare.slice(4)}` }),
  };
}

/** Escapes a value of a filter: `):` would end the condition, and `*` would match any text. */
export const quoted = (text: string): string => text.replaceAll("):", ") :").replaceAll("*", " ").trim();
