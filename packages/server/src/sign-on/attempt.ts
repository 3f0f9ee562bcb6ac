import { createHmac, hash } from "node:crypto";
import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring, Purpose } from "../lib/keyring.ts";
import { keyIdOfSealed, seal, unseal } from "../lib/seal.ts";
import type { ProfileKey } from "../profiles/profile.ts";

/**
 * One sign-on, from the shopper's click to the customer token:
 *
 *     started ──► returned ──► code_issued ──► exchanged
 *        │           │              │
 *        │           └──► failed ◄──┤
 *        └──► expired               └──► expired
 *
 * `started` is not stored: the attempt travels sealed in the `state` to the identity provider and back. From `returned`
 * on the attempt has a row, whose primary key lets it return only once. Terminal states are never left.
 */
export type SignOnAttempt = {
  id: string;
  startedAt: number;
  clientId: string;
  clientState: string;
  clientNonce: string | null;
  /** Digest of the redirect URI. The callback finds the URI among the realm's registered ones. */
  clientRedirectDigest: string;
  /** The port of the command line's redirect URI, which is not registered. Absent for other clients. */
  loopbackPort?: number | undefined;
  /** The client's PKCE challenge, or `NO_CHALLENGE`. */
  codeChallenge: string;
  browserDigest: string;
  /** The issuer that the shopper was sent to (RFC 9700 4.4.2). */
  idpIssuer: string;
  /** The client is an application key, which must show its secret at the exchange. */
  isConfidential?: boolean;
  /** The id of that key, for the record. An earlier release leaves it out. */
  keyId?: string | undefined;
  /** Absent: `LEAST_SCOPE`. */
  clientScope?: string | undefined;
  /** In seconds: the client's `max_age`. */
  maxAge?: number | undefined;
  /** The customer that the client's `id_token_hint` names. The sign-on of any other person is refused. */
  hintedCustomerId?: string | undefined;
  /** The storefront's `ui_locales`. */
  uiLocales?: string | undefined;
};

const PURPOSE = "sign-on-attempt";

/** The path is part of the seal: an attempt opens only under the path that it began under. */
export const contextOf = ({ storeId, realmId, profileId }: ProfileKey) =>
  `${storeId}/${realmId}/${profileId}`;

export const sealAttempt = (keyring: Keyring, key: ProfileKey, attempt: SignOnAttempt): string =>
  seal(keyring, PURPOSE, contextOf(key), JSON.stringify(attempt));

export const openAttempt = (keyring: Keyring, key: ProfileKey, idpState: string): SignOnAttempt | undefined =>
  openAtPath(keyring, PURPOSE, key, idpState);

export function openAtPath<T>(
  keyring: Keyring,
  purpose: Purpose,
  key: ProfileKey,
  sealed: string,
): T | undefined {
  const text = unseal(keyring, purpose, contextOf(key), sealed);
  return text === undefined ? undefined : JSON.parse(text);
}

/** The attempt's ten minutes have passed, or it began before `endedBefore`, which a restore sets. */
export const isOver = (
  { clock }: { clock: Clock },
  { startedAt }: Pick<SignOnAttempt, "startedAt">,
  endedBefore: number,
): boolean => clock.now() >= startedAt + limits.attemptSeconds * 1000 || startedAt < endedBefore;

/** Derived from the attempt's id and the master key that sealed it: every instance can, and nothing is stored. */
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

/** The challenge of a client that sent none. No verifier matches, so an older release refuses the code. */
export const NO_CHALLENGE = "none";

/** 256 bits: a challenge, or a browser's value. */
export const isDigest = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);
