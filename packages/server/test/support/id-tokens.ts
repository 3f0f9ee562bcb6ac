import {
  constants,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  sign,
} from "node:crypto";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { JsonObject } from "../../src/openid/discovery.ts";
import { type ExpectedNonce, verifyIdToken } from "../../src/openid/id-token.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { handClock } from "./clock.ts";
import { type HostileIdp, startHostileIdp } from "./hostile-idp.ts";
import { newIdpClient, type ReadyClient } from "./idp-client.ts";

/** ID tokens of a provider that signs whatever it likes. */

export const NONCE = "the nonce of this sign-on";
export const clock = handClock();
export const nowSeconds = () => clock.now() / 1000;

export let idp: HostileIdp;
let storage: Storage;
export let client: ReadyClient;

/**
 * Registers the hooks of a test file: one hostile provider for all its tests, and a client that knows nothing of it for
 * each.
 */
export function useIdTokens(): void {
  beforeAll(async () => {
    idp = await startHostileIdp();
    storage = await openStorage({ clock }, "sqlite::memory:");
  });
  afterAll(async () => {
    await idp.close();
    await storage.close();
  });
  beforeEach(() => {
    idp.hooks = {};
    idp.journal.length = 0;
    client = newIdpClient({ idp, storage, clock });
  });
}

export const good = (changes: object = {}): JsonObject => ({
  iss: idp.issuer,
  aud: idp.clientId,
  sub: "subject",
  iat: nowSeconds(),
  exp: nowSeconds() + 300,
  nonce: NONCE,
  ...changes,
});

type Expected = { nonce?: ExpectedNonce; accessToken?: string };

export async function verify(token: unknown, { nonce = { value: NONCE }, accessToken }: Expected = {}) {
  return verifyIdToken(await client(), token, { nonce, accessToken });
}

/** The reason, or `undefined` for a token that was accepted. */
export async function reasonFor(token: unknown, expected: Expected = {}): Promise<string | undefined> {
  const verdict = await verify(token, expected);
  return "reason" in verdict ? verdict.reason : undefined;
}

export const withClaims = (changes: object) => reasonFor(idp.signToken(good(changes)));

// Other algorithms than the hostile provider's own.

export const rsaPair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
export const rsa = rsaPair();
export const otherRsa = rsaPair();
export const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
export const ed25519 = generateKeyPairSync("ed25519");
export const jwkOf = ({ publicKey }: KeyPairKeyObjectResult, more: object = {}): JsonObject => ({
  ...publicKey.export({ format: "jwk" }),
  ...more,
});

type Signer = (input: Buffer) => Buffer;
const pss = (key: KeyObject, saltLength: number) => ({
  key,
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength,
});
export const signers = {
  RS256:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha256", input, key),
  RS512:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha512", input, key),
  PS256:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha256", input, pss(key, 32)),
  PS384:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha384", input, pss(key, 48)),
  ES256:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha256", input, { key, dsaEncoding: "ieee-p1363" }),
  EdDSA:
    (key: KeyObject): Signer =>
    (input) =>
      sign(null, input, key),
  Ed25519:
    (key: KeyObject): Signer =>
    (input) =>
      sign(null, input, key),
};
export const hs256 =
  (secret: string | Buffer): Signer =>
  (input) =>
    createHmac("sha256", secret).update(input).digest();
export const unsigned: Signer = () => Buffer.alloc(0);

const bytesOf = (part: object | string | Buffer) =>
  Buffer.isBuffer(part) ? part : Buffer.from(typeof part === "string" ? part : JSON.stringify(part));

/** Header and payload as objects, or as the very text or bytes that they are to be. */
export function compact(
  header: object | string | Buffer,
  payload: object | string | Buffer,
  signer: Signer,
): string {
  const signed = [header, payload].map((part) => bytesOf(part).toString("base64url")).join(".");
  return `${signed}.${signer(Buffer.from(signed)).toString("base64url")}`;
}

/** From now on the provider has these keys, and says that it signs with these algorithms. */
export function publish(algorithms: string[], keys: JsonObject[]) {
  idp.hooks.discovery = (document) => ({ ...document, id_token_signing_alg_values_supported: algorithms });
  idp.hooks.keys = () => ({ keys });
}

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split(".")[0] as string, "base64url").toString()).kid;

/** The header that the provider's own tokens have, with whatever else. */
export const ownHeader = (more: object = {}) => ({ alg: "ES256", kid: kidOf(idp.signToken({})), ...more });

const rawPair = p256();

/** Rightly signed, over bytes that the provider's own code would not write. */
export function signRaw(header: object | string | Buffer, payload: object | string | Buffer): string {
  publish(["ES256"], [jwkOf(rawPair, { kid: ownHeader().kid })]);
  return compact(header, payload, signers.ES256(rawPair.privateKey));
}
