/**
 * Canonical JSON (RFC 8785): one text per value, so that every owner of the value computes the same digest. Numbers and
 * strings as in JSON.stringify; members in the order of their UTF-16 units.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return primitive(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = value as Record<string, unknown>;
  let text = "";
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** Caches quoted member names, because quoting them again costs as much as all the rest. */
const names = new Map<string, string>();
const MAX_NAMES = 1000;

function quoted(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  if (names.size < MAX_NAMES) names.set(name, text);
  return text;
}

function primitive(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  throw new TypeError(`JSON has no ${typeof value} such as this`);
}
