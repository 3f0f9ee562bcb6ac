/** JSON as we accept it: UTF-8 without a mark, no member twice, none with a name that JavaScript treats specially. */
export type JsonFault =
  | "not_utf8"
  | "escaped_member"
  | "not_json"
  | "too_deep"
  | "duplicate_member"
  | "reserved_member"
  | "lone_surrogate";

type JsonResult = { value: unknown } | { fault: JsonFault };

const RESERVED = new Set(["__proto__", "constructor", "prototype"]);

export function parseStrictJson(bytes: Uint8Array, maxDepth: number): JsonResult {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { fault: "not_utf8" };
  }
  if (hasEscapedName(text)) return { fault: "escaped_member" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: "not_json" };
  }
  const fault = findFault(text, maxDepth);
  return fault ? { fault } : { value };
}

/**
 * One pass over text that is known to be JSON, for what JSON.parse lets through. A string is a member's name exactly
 * when it stands in an object and the token before it was `{` or `,`.
 */
function findFault(text: string, maxDepth: number): JsonFault | undefined {
  const open: (Set<string> | undefined)[] = [];
  let before = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '"') {
      const end = endOfString(text, at);
      const content: string = JSON.parse(text.slice(at, end + 1));
      if (!content.isWellFormed()) return "lone_surrogate";
      const members = open.at(-1);
      if (members && (before === "{" || before === ",")) {
        if (RESERVED.has(content)) return "reserved_member";
        if (members.has(content)) return "duplicate_member";
        members.add(content);
      }
      at = end;
      before = '"';
    } else if (character === "{" || character === "[") {
      open.push(character === "{" ? new Set() : undefined);
      if (open.length > maxDepth) return "too_deep";
      before = character;
    } else if (character === "}" || character === "]") {
      open.pop();
      before = character;
    } else if (character === "," || character === ":") {
      before = character;
    }
  }
  return undefined;
}

/**
 * A member's name that is written with a backslash. Nobody needs one, and the parser of Node 24 can read such a name as
 * another that it has seen before (nodejs/node#63785), so it must not get to see any. Works on any text.
 */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = endOfString(text, at);
    if (text.slice(at, end).includes("\\") && /^\s*:/.test(text.slice(end + 1, end + 64))) return true;
    at = end + 1;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
