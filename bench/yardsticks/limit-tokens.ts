import {
  createHmac,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isEs256, signEs256 } from "../../packages/server/src/lib/es256.ts";
import type { Database } from "./database.ts";

/** The database, keys and ids of the bare server. */
export type Limit = Database &
  Secrets & {
    publicUrl: string;
    idp: string;
    idpKeys: Map<string, KeyObject>;
    storeId: string;
    realmId: string;
    profileId: string;
  };

type Secrets = { macKey: KeyObject; privateKey: KeyObject; publicKey: KeyObject };

export const newSecrets = (): Secrets => ({
  // A key object, because an HMAC with a key of bytes takes Node three times as long.
  macKey: createSecretKey(randomBytes(32)),
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
});

const mac = ({ macKey }: Secrets, text: string) => createHmac("sha256", macKey).update(text).digest();

/** Adds an HMAC to an access token or to the state of a sign-on. */
export const signText = (limit: Secrets, text: string): string =>
  `${text}~${mac(limit, text).toString("base64url")}`;

export function openText(limit: Secrets, signed: string): string {
  const end = signed.lastIndexOf("~");
  const text = signed.slice(0, end);
  if (!timingSafeEqual(mac(limit, text), Buffer.from(signed.slice(end + 1), "base64url")))
    throw new Error("a wrong signature");
  return text;
}

/** The store id in the bearer token. */
export function storeOf(limit: Secrets, { headers }: IncomingMessage): string {
  const [storeId = ""] = openText(limit, (headers.authorization ?? "").slice("Bearer ".length)).split(".");
  return storeId;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const HEADER = encode({ alg: "ES256", typ: "at+jwt", kid: "key-1" });

/** Makes a customer token: one ES256 signature. */
export function signCustomerToken(
  { privateKey, publicUrl, storeId }: Limit,
  tokenId: string,
  customerId: string,
) {
  const issuedAt = Math.floor(Date.now() / 1000);
  const expires = issuedAt + 86_400;
  const claims = {
    iss: publicUrl,
    aud: publicUrl,
    sub: customerId,
    jti: tokenId,
    store_id: storeId,
    iat: issuedAt,
    exp: expires,
  };
  const signed = `${HEADER}.${encode(claims)}`;
  const token = `${signed}.${signEs256(privateKey, Buffer.from(signed)).toString("base64url")}`;
  return { data: { type: "token", id: tokenId, customer_id: customerId, token, expires } };
}

/** Verifies the signature of a customer token and gives the token's id. */
export function openCustomerToken({ publicKey }: Secrets, token: string): string {
  const [header = "", claims = "", signature = ""] = token.split(".");
  if (!isEs256(publicKey, Buffer.from(`${header}.${claims}`), Buffer.from(signature, "base64url")))
    throw new Error("a wrong signature");
  return JSON.parse(Buffer.from(claims, "base64url").toString()).jti;
}
