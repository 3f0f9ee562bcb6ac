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

/** What the bare server knows. */
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
  // As a key object, because Node takes three times as long over the bytes.
  macKey: createSecretKey(randomBytes(32)),
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
});

const mac = ({ macKey }: Secrets, text: string) => createHmac("sha256", macKey).update(text).digest();

/** What an access token and the state of a sign-on need: that nobody else could have written it. */
export const signText = (limit: Secrets, text: string): string =>
  `${text}~${mac(limit, text).toString("base64url")}`;

export function openText(limit: Secrets, signed: string): string {
  const end = signed.lastIndexOf("~");
  const text = signed.slice(0, end);
  if (!timingSafeEqual(mac(limit, text), Buffer.from(signed.slice(end + 1), "base64url")))
    throw new Error("not one of ours");
  return text;
}

/** The store of a bearer token. */
export function storeOf(limit: Secrets, { headers }: IncomingMessage): string {
  const [storeId = ""] = openText(limit, (headers.authorization ?? "").slice("Bearer ".length)).split(".");
  return storeId;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const HEADER = encode({ alg: "ES256", typ: "at+jwt", kid: "key-1" });

/** A customer token: one ES256 signature. */
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

/** The id of a customer token that is ours. */
export function openCustomerToken({ publicKey }: Secrets, token: string): string {
  const [header = "", claims = "", signature = ""] = token.split(".");
  if (!isEs256(publicKey, Buffer.from(`${header}.${claims}`), Buffer.from(signature, "base64url")))
    throw new Error("not one of ours");
  return JSON.parse(Buffer.from(claims, "base64url").toString()).jti;
}
