import { type KeyObject, sign, verify } from "node:crypto";
import { isEs256, signEs256 } from "./es256.ts";
import { parseStrictJson } from "./strict-json.ts";

/** The service's own signed tokens: compact JWS with ES256 or RS256. openid/ verifies the tokens of providers. */
export type SigningAlgorithm = "ES256" | "RS256";
export type Signer = { kid: string; alg: SigningAlgorithm; privateKey: KeyObject };
type Claims = Record<string, unknown>;
export type Jws = { kid: string; typ: string; claims: Claims; isSignedBy(publicKey: KeyObject): boolean };

const MAX_LENGTH = 4096;
const MAX_DEPTH = 4;
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** A key signs with one algorithm only (RFC 8725, section 3.1). */
const KEY_TYPE: Record<SigningAlgorithm, string> = { ES256: "ec", RS256: "rsa" };

export function signJws({ kid, alg, privateKey }: Signer, typ: string, claims: Claims): string {
  if (privateKey.asymmetricKeyType !== KEY_TYPE[alg]) throw new Error(`the key ${kid} is none for ${alg}`);
  const signed = `${encode({ alg, typ, kid })}.${encode(claims)}`;
  const bytes = Buffer.from(signed);
  const signature = alg === "ES256" ? signEs256(privateKey, bytes) : sign("sha256", bytes, privateKey);
  return `${signed}.${signature.toString("base64url")}`;
}

/** Parses without verifying. Do not use the result before `isSignedBy` has returned true. */
export function readJws(text: string): Jws | undefined {
  if (text.length > MAX_LENGTH || !COMPACT.test(text)) return undefined;
  const [headerPart = "", claimsPart = "", signaturePart = ""] = text.split(".");
  const header = decode(headerPart);
  const claims = decode(claimsPart);
  const signature = Buffer.from(signaturePart, "base64url");
  // The decoder ignores spare bits in the last character, so only text that encodes back to itself is accepted.
  if (signature.toString("base64url") !== signaturePart || !header || !claims) return undefined;
  const { alg, typ, kid, crit } = header;
  if (
    (alg !== "ES256" && alg !== "RS256") ||
    typeof typ !== "string" ||
    typeof kid !== "string" ||
    crit !== undefined
  )
    return undefined;
  return {
    kid,
    typ,
    claims,
    isSignedBy(publicKey) {
      if (publicKey.asymmetricKeyType !== KEY_TYPE[alg]) return false;
      const signed = Buffer.from(`${headerPart}.${claimsPart}`);
      return alg === "ES256"
        ? isEs256(publicKey, signed, signature)
        : verify("sha256", signed, publicKey, signature);
    },
  };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function decode(part: string): Claims | undefined {
  const bytes = Buffer.from(part, "base64url");
  if (bytes.toString("base64url") !== part) return undefined;
  const parsed = parseStrictJson(bytes, MAX_DEPTH);
  const value = "value" in parsed ? parsed.value : undefined;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
}
