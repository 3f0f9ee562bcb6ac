import { createHash } from "node:crypto";
import { limits } from "../contract/limits.ts";
import type { SignOnCheck, SignOnReason } from "../contract/sign-on-reasons.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { show } from "../lib/show.ts";
import type { IdpClient } from "./client.ts";
import { type JsonObject, readObject } from "./discovery.ts";
import { isSignedBy } from "./keys.ts";
import { evidenceOf } from "./refused-json.ts";

/** The check of an ID token (OpenID Connect Core 3.1.3.7): key, algorithm, signature and claims. */
type TokenVerdict =
  | { claims: JsonObject; algorithm: string; checks: SignOnCheck[] }
  /** `refused`: the claims of a token with a good signature that failed another check. */
  | { reason: SignOnReason; checks: SignOnCheck[]; refused?: JsonObject };

/** "not_sent": in the direct flow the storefront makes the request. No absent value can skip the check. */
export type ExpectedNonce = { value: string } | "not_sent";

/** A check, for any kind of token. */
export type Finding<Part extends string> = {
  part: Part;
  passed: boolean;
  expected?: string;
  found?: string;
};

export type SignaturePart = "malformed" | "json" | "encrypted" | "alg" | "key" | "keys_unread" | "signature";
export type ClaimPart = "iss" | "aud" | "azp" | "exp" | "iat" | "nbf";

export type SignatureVerdict =
  | { header: JsonObject; payload: JsonObject; findings: Finding<SignaturePart>[] }
  | { failed: SignaturePart; findings: Finding<SignaturePart>[] };

/** All that the check of a token needs. */
export type TokenClient = Omit<IdpClient, "send">;

const MAX_TOKEN_LENGTH = 64 * 1024;
const MAX_KEY_ID_LENGTH = 1024;
const MAX_AGE_MS = 10 * 60_000;
const SKEW_MS = limits.clockSkewSeconds * 1000;

export async function verifyIdToken(
  client: TokenClient,
  idToken: unknown,
  expected: { nonce: ExpectedNonce; accessToken: string | undefined },
): Promise<TokenVerdict> {
  const signed = await verifySignature(client, idToken, ["jwt"]);
  if ("failed" in signed) return { reason: `id_token.${signed.failed}`, checks: toChecks(signed.findings) };
  const { header, payload } = signed;
  const { nonce, sub, at_hash } = payload;
  const { failed, findings } = upToFailure([
    ...signed.findings,
    ...judgeClaims(client, payload),
    expected.nonce === "not_sent"
      ? {
          part: "nonce" as const,
          passed: true,
          expected: "none of Latchkey's",
          found: nonce === undefined ? "absent" : "sent",
        }
      : { part: "nonce" as const, passed: isText(nonce) && nonce === expected.nonce.value },
    {
      part: "sub" as const,
      passed: isSubject(sub),
      expected: "1 to 255 ASCII characters",
      found: typeof sub === "string" ? sizeOf(sub) : show(sub),
    },
    ...(at_hash === undefined
      ? []
      : [{ part: "at_hash" as const, passed: fitsAccessToken(at_hash, header.alg, expected.accessToken) }]),
  ]);
  const checks = toChecks(findings);
  return failed
    ? { reason: `id_token.${failed}`, checks, refused: payload }
    : { claims: payload, algorithm: header.alg as string, checks };
}

const toChecks = (findings: Finding<string>[]): SignOnCheck[] =>
  findings.map(({ part, ...rest }) => ({ check: `id_token.${part}`, ...rest }));

/** The findings up to the first failure. Later ones rest on what failed, so they are not recorded. */
export function upToFailure<Part extends string>(
  findings: Finding<Part>[],
): { failed: Part | undefined; findings: Finding<Part>[] } {
  const failedAt = findings.findIndex(({ passed }) => !passed);
  if (failedAt === -1) return { failed: undefined, findings };
  return { failed: findings[failedAt]?.part, findings: findings.slice(0, failedAt + 1) };
}

/**
 * The part that ID tokens, logout tokens and signed UserInfo have in common. The metadata says which algorithms are
 * allowed, the key set says which keys. The header only selects one of them; keys and addresses in the header are
 * ignored (RFC 8725 3.1, 3.10).
 */
export async function verifySignature(
  { keys, metadata }: Pick<TokenClient, "keys" | "metadata">,
  token: unknown,
  types: readonly string[],
): Promise<SignatureVerdict> {
  const read = readCompact(token, types);
  if ("part" in read) return { failed: read.part, findings: [read] };
  const { signed, signature, header, payload } = read;
  const { alg, kid } = header;

  const isAllowed = typeof alg === "string" && metadata.signingAlgorithms.includes(alg);
  const accepted = show(metadata.signingAlgorithms.join(", "));
  const findings: Finding<SignaturePart>[] = [
    { part: "alg", passed: isAllowed, expected: accepted, found: show(alg) },
  ];
  if (!isAllowed) return { failed: "alg", findings };

  const isKeyId = kid === undefined || (typeof kid === "string" && kid.length <= MAX_KEY_ID_LENGTH);
  const key = isKeyId ? await keys.keyFor(kid, alg) : undefined;
  // Where the key set cannot be read, it is not known whether the provider has such a key.
  const part = !key && isKeyId && keys.keysFailed() ? "keys_unread" : "key";
  const waitMs = key ? 0 : keys.untilRereadMs();
  const again =
    waitMs > 0 ? `; its key set is read again in ${Math.ceil(waitMs / 1000)} s at the earliest` : "";
  findings.push({
    part,
    passed: key !== undefined,
    expected: `a key of the provider${again}`,
    found: show(kid),
  });
  if (!key) return { failed: part, findings };

  let isSigned = isSignedBy(key, alg, signed, signature);
  if (!isSigned) {
    // The provider may have replaced the key under the same `kid`. The keys are compared, because another sign-on may
    // have read the key set in the meantime; then this read does nothing.
    await keys.reread();
    const current = await keys.keyFor(kid, alg);
    isSigned = current !== undefined && current !== key && isSignedBy(current, alg, signed, signature);
  }
  findings.push({ part: "signature", passed: isSigned });
  return isSigned ? { header, payload, findings } : { failed: "signature", findings };
}

type Compact = { signed: Buffer; signature: Buffer; header: JsonObject; payload: JsonObject };

const malformed = (found: string): Finding<SignaturePart> => ({
  part: "malformed",
  passed: false,
  expected: "a signed JSON web token in its compact form",
  found,
});

function readPart(
  part: "header" | "payload",
  bytes: Buffer,
): { document: JsonObject } | Finding<SignaturePart> {
  const read = readObject(bytes);
  if ("document" in read) return read;
  const evidence = evidenceOf(read, part);
  return evidence
    ? { part: "json", passed: false, ...evidence }
    : malformed(`a ${part} that is not one plain JSON object`);
}

/** Accepts the compact form in its canonical spelling only, and no header extension. */
function readCompact(token: unknown, types: readonly string[]): Compact | Finding<SignaturePart> {
  if (!isText(token)) return malformed("no text");
  if (token.length > MAX_TOKEN_LENGTH) return malformed(`more than ${MAX_TOKEN_LENGTH} characters`);
  if (!/^[A-Za-z0-9_.-]+$/.test(token)) return malformed("a character that it cannot have");
  const parts = token.split(".");
  if (parts.length === 5) {
    return { part: "encrypted", passed: false, expected: "a signed token", found: "an encrypted token" };
  }
  if (parts.length !== 3) return malformed(`${parts.length} parts`);
  const bytes = parts.map((part) => Buffer.from(part, "base64url"));
  // Unused bits in the last character would allow several spellings of one token.
  if (bytes.some((part, index) => part.toString("base64url") !== parts[index]))
    return malformed("bad base64url");
  const [headerBytes, payloadBytes, signature] = bytes as [Buffer, Buffer, Buffer];
  const header = readPart("header", headerBytes);
  if ("part" in header) return header;
  const payload = readPart("payload", payloadBytes);
  if ("part" in payload) return payload;
  const { crit, b64, typ } = header.document;
  if (crit !== undefined || b64 !== undefined) return malformed("a header with an extension");
  // A token of another type was made for another purpose (RFC 8725 3.11). A media type may be written in full (RFC 7515
  // 4.1.9).
  const isMeant = typeof typ === "string" && types.includes(typ.toLowerCase().replace(/^application\//, ""));
  if (typ !== undefined && !isMeant) return malformed(`the type ${show(typ)}`);
  return {
    signed: Buffer.from(token.slice(0, token.lastIndexOf("."))),
    signature,
    header: header.document,
    payload: payload.document,
  };
}

/** The claims that ID tokens and logout tokens share. With `mayLackExp`, `iat` alone limits a token's age. */
export function judgeClaims(
  { clock, clientId, metadata: { issuer } }: Omit<TokenClient, "keys">,
  { iss, aud, azp, exp, iat, nbf }: JsonObject,
  { mayLackExp = false } = {},
): Finding<ClaimPart>[] {
  const nowMs = clock.now();
  const [earliestMs, latestMs] = [nowMs - MAX_AGE_MS, nowMs + SKEW_MS];
  const [iatMs, nbfMs] = [toMs(iat), toMs(nbf)];
  return [
    { part: "iss", passed: iss === issuer, expected: show(issuer), found: show(iss) },
    // Latchkey's client id alone, whatever azp says (requirement R7): a second audience could use the token as its own.
    {
      part: "aud",
      passed: aud === clientId || (Array.isArray(aud) && aud.length === 1 && aud[0] === clientId),
      expected: clientId,
      found: show(aud),
    },
    ...(azp === undefined
      ? []
      : [{ part: "azp" as const, passed: azp === clientId, expected: clientId, found: show(azp) }]),
    {
      part: "exp",
      passed: isUnexpired(clock, exp) || (mayLackExp && exp === undefined),
      expected: `after ${toIso(nowMs - SKEW_MS)}`,
      found: showInstant(exp),
    },
    {
      part: "iat",
      passed: iatMs >= earliestMs && iatMs <= latestMs,
      expected: `from ${toIso(earliestMs)} to ${toIso(latestMs)}`,
      found: showInstant(iat),
    },
    ...(nbf === undefined
      ? []
      : [
          {
            part: "nbf" as const,
            passed: nbfMs <= latestMs,
            expected: `by ${toIso(latestMs)}`,
            found: showInstant(nbf),
          },
        ]),
  ];
}

export const isUnexpired = (clock: Clock, exp: unknown): boolean => clock.now() < toMs(exp) + SKEW_MS;

/** NaN for a value that is not an instant: every comparison with NaN fails. */
const toMs = (seconds: unknown): number =>
  typeof seconds === "number" && Number.isFinite(seconds) ? seconds * 1000 : Number.NaN;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** OpenID Connect Core 2, without control characters. Compared byte for byte. */
export const isSubject = (value: unknown): value is string =>
  typeof value === "string" && /^[\x20-\x7e]{1,255}$/.test(value);

/** A record never shows the subject, only its length and kind. */
const sizeOf = (subject: string): string =>
  `${subject.length} characters${/[^\x20-\x7e]/.test(subject) ? ", not all of them printable ASCII" : ""}`;

/** A provider's name for its session with the browser. */
export const isIdpSession = (value: unknown): value is string =>
  typeof value === "string" && value.length <= 255 && /^\P{C}+$/u.test(value);

/** OpenID Connect Core 3.1.3.6: the left half of the hash of the algorithm. Ed25519 uses SHA-512. */
function fitsAccessToken(atHash: unknown, algorithm: unknown, accessToken: string | undefined): boolean {
  if (accessToken === undefined) return false;
  const isEdwards = algorithm === "EdDSA" || algorithm === "Ed25519";
  const digest = createHash(isEdwards ? "sha512" : "sha256")
    .update(accessToken)
    .digest();
  return atHash === digest.subarray(0, digest.length / 2).toString("base64url");
}

/** A number is shown as an instant; a text is shown in quotes, so that it is not taken for a number. */
export function showInstant(seconds: unknown): string {
  const instantMs = toMs(seconds);
  if (Math.abs(instantMs) <= 8.64e15) return toIso(instantMs);
  return show(typeof seconds === "string" ? `"${seconds}"` : seconds);
}
