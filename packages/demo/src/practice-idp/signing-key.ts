import { generateKeyPairSync, type JsonWebKey, type KeyObject, randomBytes, sign } from "node:crypto";

/** An RS256 key, which every client library must support (OpenID Connect Discovery 3). */
export type SigningKey = { jwk: JsonWebKey; privateKey: KeyObject; kid: string };

export type Claims = Record<string, unknown>;

export function newSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  // A `kid` that no earlier run has used, so that a client with cached keys does not confuse them.
  const kid = randomBytes(6).toString("hex");
  const jwk = { ...privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256" };
  return { jwk, privateKey, kid };
}

/** Replaces claims of a token, and signs the token again. */
export function resign(
  token: string,
  { privateKey, kid }: SigningKey,
  change: (claims: Claims) => Claims,
): string {
  const claims: Claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const signed = [{ alg: "RS256", typ: "JWT", kid }, change(claims)].map(encode).join(".");
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
