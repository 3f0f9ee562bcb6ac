import { isUtf8 } from "node:buffer";
import { limits } from "../contract/limits.ts";
import type { Operation } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { readPercentEncoded } from "../lib/percent-encoded.ts";
import { type JsonFault, parseStrictJson } from "../lib/strict-json.ts";
import { headerOf, type Received } from "./message.ts";

const JSON_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded(\s*;\s*charset="?utf-8"?)?$/i;

const JSON_FAULTS: Record<JsonFault, string> = {
  not_utf8: "The body is not UTF-8.",
  not_json: "The body is not JSON.",
  too_deep: `The body is nested deeper than ${limits.jsonDepth} levels.`,
  duplicate_member: "A member is named twice in one object.",
  reserved_member: "A member has a name that is not allowed.",
  lone_surrogate: "A text holds half of a surrogate pair.",
};

function faultInWords({
  fault,
  place,
}: {
  fault: JsonFault;
  place?: { line: number; column: number };
}): string {
  const seen = place ? ` Seen at line ${place.line}, column ${place.column}.` : "";
  return `${JSON_FAULTS[fault]}${seen}`;
}

/** The body as plain values, not yet validated. `undefined`: there is no body, and the operation requires none. */
export async function readBody(received: Received, body: NonNullable<Operation["body"]>): Promise<unknown> {
  if (isEncoded(received)) throw new Problem("media_type_unsupported", ENCODED);
  // Operations without a body ignore the media type, because clients send one, such as a form's, with an empty body.
  const early = body.optional ? await readBytes(received) : undefined;
  if (early?.length === 0) return undefined;

  const mediaType = headerOf(received, "content-type");
  const isJson = mediaType !== undefined && JSON_TYPE.test(mediaType);
  const isForm = mediaType !== undefined && body.form === true && FORM_TYPE.test(mediaType);
  if (!isJson && !isForm) throw otherMediaType(mediaType, body.form ? [JSON_NAME, FORM_NAME] : [JSON_NAME]);

  const bytes = early ?? (await readBytes(received));
  if (isForm) return parseForm(bytes);
  const result = parseStrictJson(bytes, limits.jsonDepth);
  if ("fault" in result) throw new Problem("body_not_json", { detail: faultInWords(result) });
  refuseNul(result.value, "");
  return result.value;
}

/** A form's text, for a browser leg that reads it like a query. */
export async function readForm(received: Received): Promise<string> {
  if (isEncoded(received)) throw new Problem("media_type_unsupported", ENCODED);
  const mediaType = headerOf(received, "content-type");
  if (!FORM_TYPE.test(mediaType ?? "")) throw otherMediaType(mediaType, [FORM_NAME]);
  return Buffer.from(await readBytes(received)).toString();
}

const [JSON_NAME, FORM_NAME] = ["application/json", "application/x-www-form-urlencoded"];
const ENCODED = {
  detail: "The body is compressed. Send it without `Content-Encoding`.",
  source: { header: "Content-Encoding" },
};

/** The sent type is not repeated: it is the caller's input. */
function otherMediaType(sent: string | undefined, wanted: readonly string[]): Problem {
  const found = sent ? "has another `Content-Type`" : "has no `Content-Type`";
  const names = wanted.map((name) => `\`${name}\``).join(" or ");
  const detail = `The request ${found}. This operation reads ${names} in UTF-8.`;
  return new Problem("media_type_unsupported", { detail, source: { header: "Content-Type" } });
}

const isEncoded = (received: Received): boolean =>
  (headerOf(received, "content-encoding") ?? "identity").toLowerCase() !== "identity";

/** PostgreSQL stores no NUL in text, and SQLite ends a text there. */
function refuseNul(value: unknown, pointer: string): void {
  if (typeof value === "string" && value.includes("\0"))
    throw new Problem("member_invalid", { detail: "The text holds a NUL.", source: { pointer } });
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    refuseNul(name, pointer);
    // Never echo a name that is not shaped like a member's.
    refuseNul(member, /^\w{1,40}$/.test(name) ? `${pointer}/${name}` : pointer);
  }
}

/** Refuses a body by its Content-Length, before reading it. */
function readBytes(received: Received): Promise<Uint8Array> {
  if (Number(headerOf(received, "content-length") ?? 0) > limits.bodyBytes)
    throw new Problem("body_too_large");
  return received.readBytes();
}

/** Refuses a repeated field (RFC 6749, sections 3.1 and 3.2). */
function parseForm(bytes: Uint8Array): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  const read = isUtf8(bytes) ? readPercentEncoded(Buffer.from(bytes).toString()) : undefined;
  if (!read)
    throw new Problem("member_invalid", { detail: "The form holds a NUL, or bytes that are not UTF-8." });
  for (const [name, value] of read) {
    if (name in fields) throw new Problem("member_invalid", { detail: "A field is given twice." });
    fields[name] = value;
  }
  return fields;
}
