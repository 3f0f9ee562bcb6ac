import { ApiError } from "../api-error.ts";

/** `headers` of `node:http`, of Express or of a `Request`, or an object of names and values. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

export type VerifyOptions = {
  /** How far the message's time may be from the local clock, before or after. Default: five minutes. */
  toleranceSeconds?: number | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
};

/** Every attempt to deliver a message has the same `id`: store it to process each message once. */
export type Verified = { id: string; sentAt: Date };

const TOLERANCE_SECONDS = 300;

/**
 * Verifies that a message comes from Latchkey and is recent (Standard Webhooks, `v1`). `body` is the body as
 * received, byte for byte, before any parser. A single valid signature by one of the secrets is enough; otherwise
 * it throws `webhook_unsigned`, `webhook_too_old` or `webhook_signature_wrong`.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: VerifyOptions = {},
): Promise<Verified> {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !signatures || !timestamp || !/^\d{1,12}$/.test(timestamp))
    throw new ApiError(
      "webhook_unsigned",
      "The message lacks webhook-id, webhook-timestamp or webhook-signature.",
    );
  const sentAtMs = Number(timestamp) * 1000;
  if (Math.abs(now() - sentAtMs) > toleranceSeconds * 1000)
    throw new ApiError(
      "webhook_too_old",
      "The message was signed too long ago, or in the future. Is the clock of this machine right?",
    );
  const signed = joined(`${id}.${timestamp}.`, body);
  const all = signatures.split(" ").flatMap(signatureBytes);
  let isGood = false;
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    const key = await keyOf(secret);
    // `verify` compares in constant time. The loop tries all pairs, so that its duration does not show which pair fits.
    for (const signature of all)
      if (await crypto.subtle.verify("HMAC", key, signature, signed)) isGood = true;
  }
  if (isGood) return { id, sentAt: new Date(sentAtMs) };
  throw new ApiError(
    "webhook_signature_wrong",
    "No signature of the message is by one of these secrets. Was the body changed on its way here, by a parser for example?",
  );
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  // Not `instanceof`: some frameworks have their own `Headers` class.
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : found?.join(" ");
}

const isHeaders = (headers: WebhookHeaders): headers is Headers => typeof headers.get === "function";

const encoder = new TextEncoder();

function joined(start: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const [first, rest] = [encoder.encode(start), typeof body === "string" ? encoder.encode(body) : body];
  const all = new Uint8Array(first.length + rest.length);
  all.set(first);
  all.set(rest, first.length);
  return all;
}

/** The `v1` signatures of the header. Skips other versions and text that is not base64. */
function signatureBytes(signature: string): Uint8Array<ArrayBuffer>[] {
  const [version, value = ""] = signature.split(",");
  const bytes = version === "v1" ? fromBase64(value) : undefined;
  return bytes ? [bytes] : [];
}

function keyOf(secret: string) {
  const bytes = fromBase64(secret.replace(/^whsec_/, ""));
  if (!bytes || bytes.length === 0) throw new TypeError("A signing secret is whsec_ and base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
