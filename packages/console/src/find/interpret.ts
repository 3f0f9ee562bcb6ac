/** What somebody may have been told on the telephone, and what it is. */
export type Meant =
  | { kind: "email"; email: string }
  | { kind: "id"; id: string }
  | { kind: "client_id"; clientId: string }
  /** `reference`: what these words are as one, where they can be one. */
  | { kind: "words"; words: string; reference?: string };

/**
 * References are eight characters of Crockford's Base32: there is no O, I, L or U in them, and whoever hears or writes one of those
 * means 0 or 1 (U is nobody's). Dashes, spaces and the case make no difference. Michelle, John Hill and the customer number 10482217 can
 * all be one, so that is looked for beside the names.
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

/** As a value in a filter: `):` would end its condition, and `*` stands for any text. */
export const quoted = (text: string): string => text.replaceAll("):", ") :").replaceAll("*", " ").trim();
