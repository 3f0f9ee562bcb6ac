import type { SignOnCheck } from "../contract/sign-on-reasons.ts";
import { show } from "../lib/show.ts";
import { isObject, type JsonObject, type Metadata } from "./discovery.ts";
import {
  type ClaimPart,
  type Finding,
  isIdpSession,
  isSubject,
  judgeClaims,
  type SignaturePart,
  type TokenClient,
  upToFailure,
  verifySignature,
} from "./id-token.ts";

type LogoutPart = SignaturePart | ClaimPart | "events" | "nonce" | "sub" | "sid" | "jti";

/** The sessions that the provider has ended: all of a subject, one session, or one of a subject. */
export type EndedSession = { subject: string | null; idpSession: string | null };
type LogoutVerdict = (EndedSession & { issuedAt: number }) | LogoutRefused;

/** `isSigned`: the provider's signature is good, so the provider made the token. */
export type LogoutRefused = {
  reason: `logout_token.${LogoutPart}`;
  isSigned: boolean;
  checks: SignOnCheck[];
};

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/**
 * OpenID Connect Back-Channel Logout 2.6. Any client may post a logout token, so its signature is the only proof. The
 * event keeps an ID token from passing as a logout token; the absent nonce keeps a logout token from passing as an ID
 * token. Some providers leave `exp` out: then `iat` limits the token's age to ten minutes.
 */
export async function verifyLogoutToken(
  client: TokenClient,
  token: string,
  idTokenAlg: string | null,
): Promise<LogoutVerdict> {
  const signed = await verifySignature(client, token, ["logout+jwt", "jwt"]);
  if ("failed" in signed) return refused(signed.failed, signed.findings, false);
  const { header, payload } = signed;
  const { failed, findings } = upToFailure<LogoutPart>([
    // After the signature, so that the profile shows the refusal: it shows refusals of signed tokens only.
    ...signed.findings.filter(({ part }) => part !== "alg"),
    judgeAlgorithm(logoutAlgorithms(client.metadata, idTokenAlg), header.alg),
    ...judgeClaims(client, payload, { mayLackExp: true }),
    ...judgeLogout(payload),
  ]);
  if (failed) return refused(failed, findings, true);
  const { sub, sid, iat } = payload;
  return {
    subject: isSubject(sub) ? sub : null,
    idpSession: isIdpSession(sid) ? sid : null,
    // `iat` may have a fraction (RFC 7519 2), which a PostgreSQL bigint does not accept.
    issuedAt: Math.round((iat as number) * 1000),
  };
}

/** Two names of one algorithm (RFC 9864 2.2). */
const EDWARDS = ["EdDSA", "Ed25519"];
/** The algorithm of a client that asked for no other (OpenID Connect Dynamic Client Registration 2). */
const DEFAULT = "RS256";

/**
 * The algorithms that a logout token may have: the one of this client's ID tokens (Back-Channel Logout 2.6), or the
 * default before the first ID token. Where the provider no longer lists that algorithm, any that the provider lists may
 * be the new one.
 */
function logoutAlgorithms({ signingAlgorithms }: Metadata, idTokenAlg: string | null): readonly string[] {
  const algorithm = idTokenAlg ?? DEFAULT;
  const names = EDWARDS.includes(algorithm) ? EDWARDS : [algorithm];
  const listed = signingAlgorithms.filter((name) => names.includes(name));
  return listed.length > 0 ? listed : signingAlgorithms;
}

const judgeAlgorithm = (algorithms: readonly string[], alg: unknown): Finding<"alg"> => ({
  part: "alg",
  passed: algorithms.some((name) => name === alg),
  expected: algorithms.join(", "),
  found: show(alg),
});

const refused = (failed: LogoutPart, findings: Finding<string>[], isSigned: boolean): LogoutVerdict => ({
  reason: `logout_token.${failed}`,
  isSigned,
  checks: findings.map(({ part, ...rest }) => ({ check: `logout_token.${part}`, ...rest })),
});

/** A jti must be present but is not stored: a token that is sent twice ends nothing more. */
function judgeLogout({ events, nonce, sub, sid, jti }: JsonObject): Finding<LogoutPart>[] {
  return [
    { part: "events", passed: isObject(events) && isObject(events[EVENT]) },
    { part: "nonce", passed: nonce === undefined },
    { part: "sub", passed: isSubject(sub) || (sub === undefined && sid !== undefined) },
    { part: "sid", passed: isIdpSession(sid) || sid === undefined },
    { part: "jti", passed: typeof jti === "string" && jti !== "" },
  ];
}
