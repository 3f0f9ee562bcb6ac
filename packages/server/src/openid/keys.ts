import { constants, createPublicKey, type KeyObject, verify } from "node:crypto";
import { limits } from "../contract/limits.ts";
import { isEs256 } from "../lib/es256.ts";
import { isObject, type JsonObject } from "./discovery.ts";

/** A key that may sign ID tokens, with the algorithms of its kind. */
export type SigningKey = { kid: string | undefined; algorithms: string[]; key: KeyObject };

/**
 * The usable keys of a JWKS, or undefined when the document is not a JWKS. Keys for encryption, symmetric keys, private
 * members and unreadable keys are skipped: they are common, and no reason to refuse the rest.
 */
export function readKeys(document: JsonObject): SigningKey[] | undefined {
  const { keys } = document;
  if (!Array.isArray(keys) || keys.length > limits.keys) return undefined;
  return keys.flatMap((jwk) => {
    const key = isObject(jwk) ? readKey(jwk) : undefined;
    return key ? [key] : [];
  });
}

function readKey(jwk: JsonObject): SigningKey | undefined {
  if (jwk.use !== undefined && jwk.use !== "sig") return undefined;
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes("verify")))
    return undefined;
  if (jwk.kid !== undefined && typeof jwk.kid !== "string") return undefined;
  const algorithms = algorithmsOf(jwk);
  if (algorithms.length === 0) return undefined;
  const { kty, n, e, crv, x, y } = jwk;
  try {
    const key = createPublicKey({ key: { kty, n, e, crv, x, y } as never, format: "jwk" });
    return isSound(key) ? { kid: jwk.kid, algorithms, key } : undefined;
  } catch {
    return undefined;
  }
}

const MAX_EXPONENT = 2n ** 32n;

/**
 * RSA under 2048 bits can be factored; signatures with a small or even exponent can be forged (RFC 8017, SP 800-56B).
 * Above 8192 bits, or with a huge exponent, the check of a signature would block the event loop for longer than a
 * request may take.
 */
function isSound({ asymmetricKeyDetails: { modulusLength, publicExponent } = {} }: KeyObject): boolean {
  if (modulusLength === undefined || publicExponent === undefined) return true;
  const isStrong = modulusLength >= 2048 && publicExponent >= 65_537n && publicExponent % 2n === 1n;
  return isStrong && modulusLength <= 8192 && publicExponent < MAX_EXPONENT;
}

/** A key has one kind of algorithm (RFC 8725 3.1): the key decides, never the token's header. */
function algorithmsOf({ kty, crv, alg }: JsonObject): string[] {
  const ofKind =
    kty === "RSA"
      ? ["RS256", "PS256"]
      : kty === "EC" && crv === "P-256"
        ? ["ES256"]
        : kty === "OKP" && crv === "Ed25519"
          ? ["EdDSA", "Ed25519"]
          : [];
  return alg === undefined ? ofKind : ofKind.filter((name) => name === alg);
}

/** The key that a token's header names. Without a `kid` it must be the only key of its kind (Core 10.1). */
export function selectKey(
  keys: readonly SigningKey[],
  kid: unknown,
  algorithm: string,
): SigningKey | undefined {
  const fitting = keys.filter(
    (key) => key.algorithms.includes(algorithm) && (kid === undefined || key.kid === kid),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

type SignatureCheck = (key: KeyObject, signed: Buffer, signature: Buffer) => boolean;

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const checkEdDsa: SignatureCheck = (key, signed, signature) => verify(null, signed, key, signature);

/** RFC 7518 3.3 to 3.5, RFC 8037 3.1. A signature of any other algorithm is refused. */
const CHECKS: Record<string, SignatureCheck> = {
  RS256: (key, signed, signature) => verify("sha256", signed, key, signature),
  PS256: (key, signed, signature) => verify("sha256", signed, { key, ...PSS }, signature),
  ES256: isEs256,
  EdDSA: checkEdDsa,
  Ed25519: checkEdDsa,
};

/** An error during the check counts as a bad signature (RFC 8725 3.3). */
export function isSignedBy(
  { key, algorithms }: SigningKey,
  algorithm: string,
  signed: Buffer,
  signature: Buffer,
): boolean {
  const check = algorithms.includes(algorithm) ? CHECKS[algorithm] : undefined;
  if (!check) return false;
  try {
    return check(key, signed, signature);
  } catch {
    return false;
  }
}
