/** UTF-8 without a byte order mark, no member twice, and in requests no name that JavaScript treats specially. */
export type JsonFault =
  | "not_utf8"
  | "not_json"
  | "too_deep"
  | "duplicate_member"
  | "reserved_member"
  | "lone_surrogate";

/**
 * `member`: the outermost one, only with `keepsEveryName`, because names from a request are not repeated. A request's
 * fault has its place instead: line and column, from 1.
 */
type JsonResult = { value: unknown } | { fault: JsonFault; member?: string; place?: Place };
type Place = { line: number; column: number };

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const RESERVED = new Set(["__proto__", "constructor", "prototype"]);
const LITERALS: Record<string, unknown> = { true: true, false: false, null: null };

/**
 * A parser of its own: JSON.parse keeps the last of two equal members, and V8 in Node 24 to 26 can confuse an escaped
 * member name with another one (nodejs/node#63785). `keepsEveryName`: reads `__proto__`, `constructor` and `prototype`
 * as ordinary members, into objects without a prototype.
 */
export function parseStrictJson(
  bytes: Uint8Array,
  maxDepth: number,
  { keepsEveryName = false } = {},
): JsonResult {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return { fault: "not_utf8" };
  }
  const reader: Reader = {
    text,
    at: 0,
    maxDepth,
    levelsLeft: maxDepth,
    keepsEveryName,
    member: undefined,
    fault: undefined,
    faultAt: 0,
  };
  const value = readValue(reader);
  if (!reader.fault && next(reader) !== "") refuse(reader, "not_json");
  const { fault, member, faultAt } = reader;
  if (!fault) return { value };
  if (!keepsEveryName) return { fault, place: placeOf(text, faultAt) };
  return { fault, ...(member !== undefined && { member }) };
}

function placeOf(text: string, at: number): Place {
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** The state of a parse. Once `fault` is set, every function returns early and its value is not used. */
type Reader = {
  text: string;
  at: number;
  maxDepth: number;
  levelsLeft: number;
  keepsEveryName: boolean;
  /** The outermost member being read. */
  member: string | undefined;
  fault: JsonFault | undefined;
  /** The reader's position at the fault. */
  faultAt: number;
};

function refuse(reader: Reader, fault: JsonFault): undefined {
  if (reader.fault) return;
  reader.fault = fault;
  reader.faultAt = reader.at;
}

/** The next character that is not white space, without consuming it; empty at the end. */
function next(reader: Reader): string {
  const { text } = reader;
  for (;;) {
    const character = text.charAt(reader.at);
    if (character !== " " && character !== "\n" && character !== "\r" && character !== "\t") return character;
    reader.at++;
  }
}

function take(reader: Reader, character: string): boolean {
  if (next(reader) !== character) return false;
  reader.at++;
  return true;
}

function readValue(reader: Reader): unknown {
  const character = next(reader);
  if (character === '"') return readString(reader);
  if (character === "{") return inside(reader, readObject);
  if (character === "[") return inside(reader, readArray);
  return readScalar(reader);
}

function inside<T>(reader: Reader, read: (reader: Reader) => T): T | undefined {
  if (reader.levelsLeft === 0) return refuse(reader, "too_deep");
  reader.levelsLeft--;
  reader.at++;
  const value = read(reader);
  reader.levelsLeft++;
  return value;
}

function readObject(reader: Reader): object {
  // Without a prototype `object.constructor` is the member or undefined, and setting `__proto__` adds a member.
  const object: Record<string, unknown> = reader.keepsEveryName ? Object.create(null) : {};
  const isOutermost = reader.levelsLeft === reader.maxDepth - 1;
  if (take(reader, "}")) return object;
  do {
    const name = next(reader) === '"' ? readString(reader) : refuse(reader, "not_json");
    if (name === undefined) break;
    if (isOutermost && reader.keepsEveryName) reader.member = name;
    if (!reader.keepsEveryName && RESERVED.has(name)) refuse(reader, "reserved_member");
    if (Object.hasOwn(object, name)) refuse(reader, "duplicate_member");
    if (!take(reader, ":")) refuse(reader, "not_json");
    if (reader.fault) break;
    object[name] = readValue(reader);
    if (isOutermost && !reader.fault) reader.member = undefined;
  } while (!reader.fault && take(reader, ","));
  if (!take(reader, "}")) refuse(reader, "not_json");
  return object;
}

function readArray(reader: Reader): unknown[] {
  const array: unknown[] = [];
  if (take(reader, "]")) return array;
  do array.push(readValue(reader));
  while (!reader.fault && take(reader, ","));
  if (!take(reader, "]")) refuse(reader, "not_json");
  return array;
}

/** Any character except the quotation mark, the backslash and control characters. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPED = /(?:[ !#-[\]-\uffff]|\\.)*/y;

/** JSON.parse reads a single string correctly; only member names are affected. */
function readString(reader: Reader): string | undefined {
  const start = reader.at;
  const plainEnd = endOf(PLAIN, reader.text, start + 1);
  if (reader.text[plainEnd] === '"') {
    reader.at = plainEnd + 1;
    return reader.text.slice(start + 1, plainEnd);
  }
  reader.at = endOf(ESCAPED, reader.text, plainEnd) + 1;
  let content: string;
  try {
    content = JSON.parse(reader.text.slice(start, reader.at));
  } catch {
    reader.at = Math.min(start, reader.text.length);
    return refuse(reader, "not_json");
  }
  return content.isWellFormed() ? content : refuse(reader, "lone_surrogate");
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[a-z]*/y;

function readScalar(reader: Reader): unknown {
  const { text, at } = reader;
  reader.at = endOf(NUMBER, text, at);
  if (reader.at > at) return Number(text.slice(at, reader.at));
  reader.at = endOf(WORD, text, at);
  const word = text.slice(at, reader.at);
  return Object.hasOwn(LITERALS, word) ? LITERALS[word] : refuse(reader, "not_json");
}

/** The end of a sticky pattern's match at a position; the position itself without a match. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
