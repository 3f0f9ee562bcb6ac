import { createHmac, hash, randomBytes } from "node:crypto";
import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring, Purpose } from "../lib/keyring.ts";
import { keyIdOfSealed, seal, unseal } from "../lib/seal.ts";

/**
 * One sign-on, from the shopper's click to the customer token:
 *
 *     started ──► returned ──► code_issued ──► exchanged
 *        │           │              │
 *        │           └──► failed ◄──┤
 *        └──► expired               └──► expired
 *
 * `started` is written nowhere: the attempt travels, sealed, in the `state` that goes to the identity provider and comes
 * back. The database knows an attempt from `returned` on, and decides by its id that it returns only once. Terminal
 * states are never left.
 */
export type Attempt = {
  id: string;
  startedAt: number;
  clientId: string;
  clientState: string;
  clientNonce: string | null;
  /** Digest of the redirect URI: the URI itself is looked up among those that are registered when the shopper is back. */
  clientRedirectDigest: string;
  /** The client's PKCE challenge, or `NO_CHALLENGE`. */
  codeChallenge: string;
  browserDigest: string;
  /** Whom the shopper was sent to (RFC 9700 4.4.2). */
  idpIssuer: string;
  /** The client is an application key, which shows its secret at the exchange. */
  isConfidential?: boolean;
  clientScope?: string;
  /** How long ago the shopper may have shown who they are, in seconds. */
  maxAge?: number;
  /** The customer whom the client's `id_token_hint` names: nobody else may come back. */
  hintedCustomerId?: string;
  /** The languages that the storefront asked for. */
  uiLocales?: string;
};

/** The path that an attempt began under and must come back to. It is part of the seal: no other path opens it. */
export type Place = { storeId: string; realmId: string; profileId: string };

const PURPOSE = "sign-on-attempt";
export const contextOf = ({ storeId, realmId, profileId }: Place) => `${storeId}/${realmId}/${profileId}`;

export const sealAttempt = (keyring: Keyring, place: Place, attempt: Attempt): string =>
  seal(keyring, PURPOSE, contextOf(place), JSON.stringify(attempt));

export function openAttempt(keyring: Keyring, place: Place, idpState: string): Attempt | undefined {
  const text = unseal(keyring, PURPOSE, contextOf(place), idpState);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Its ten minutes have passed, or it was begun before `endedBefore`, as a restore sets it. */
export const isOver = (
  { clock }: { clock: Clock },
  { startedAt }: Pick<Attempt, "startedAt">,
  endedBefore: number,
): boolean => clock.now() >= startedAt + limits.attemptSeconds * 1000 || startedAt < endedBefore;

/**
 * The nonce and the PKCE verifier of the second leg follow from the attempt's id and the master key that sealed it, so
 * that any instance knows them and nobody else does.
 */
export const idpSecretsOf = (keyring: Keyring, idpState: string, attemptId: string) => ({
  idpNonce: derive(keyring, "idp-nonce", idpState, attemptId),
  idpVerifier: derive(keyring, "idp-verifier", idpState, attemptId),
});

function derive(keyring: Keyring, purpose: Purpose, idpState: string, attemptId: string): string {
  const key = keyring.find(purpose, Buffer.from(keyIdOfSealed(idpState), "hex"));
  if (!key) throw new Error("an attempt was sealed with a master key that is not here");
  return createHmac("sha256", key).update(attemptId).digest("base64url");
}

export const digest = (text: string): string => hash("sha256", text, "base64url");

/** RFC 7636 4.2. */
export const challengeOf = digest;

/**
 * Stands where a challenge would, for a confidential client that was let begin without one. It fits no verifier, so that a release
 * which does not know it refuses the code.
 */
export const NO_CHALLENGE = "none";

export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** What ties a sign-on to the browser in which it began: one random value, made once, for any number of tabs. */
export const newBrowserValue = (): string => randomBytes(32).toString("base64url");

export const isBrowserValue = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);

/** `__Host-` keeps other hosts of the same domain from planting one; a browser takes it over https only. */
export const browserCookieName = (publicUrl: string): string =>
  publicUrl.startsWith("https:") ? "__Host-latchkey" : "latchkey";

/**
 * Where the value with this digest is kept: under the name that all values share, and under one of its own. When two tabs begin at
 * once in a browser that has no value yet, the answer that comes second takes the shared name from the first. There are 64 names
 * of the second kind, so that whoever sends a browser here again and again does not fill it with cookies.
 */
export const browserCookieNames = (publicUrl: string, browserDigest: string): string[] => {
  const shared = browserCookieName(publicUrl);
  return [shared, `${shared}.${browserDigest.slice(0, 1)}`];
};

export function browserCookies(publicUrl: string, value: string, browserDigest: string): string[] {
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return browserCookieNames(publicUrl, browserDigest).map(
    (name) => `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`,
  );
}
