import type { SignOnCheck } from "../contract/sign-on-reasons.ts";
import type { Clock } from "../lib/clock.ts";
import { show } from "../lib/show.ts";
import type { Directory } from "../profiles/directory.ts";
import { logoutAlgorithms } from "../profiles/id-token-alg.ts";
import type { Profile } from "../profiles/profile.ts";
import { type Document, isObject, type Metadata } from "./discovery.ts";
import {
  type ClaimPart,
  type Finding,
  isIdpSession,
  isSubject,
  judgeClaims,
  type SignaturePart,
  upToFailure,
  verifySignature,
} from "./id-token.ts";

type LogoutPart = SignaturePart | ClaimPart | "events" | "nonce" | "sub" | "sid" | "jti";

/** Whom the identity provider has logged out: everything of a subject, one session, or the subject's one session. */
export type EndedSession = { subject: string | null; idpSession: string | null };
type LogoutVerdict = (EndedSession & { issuedAt: number }) | LogoutRefused;

/** `isSigned`: by the provider, so nobody else has made it. */
export type LogoutRefused = {
  reason: `logout_token.${LogoutPart}`;
  isSigned: boolean;
  checks: SignOnCheck[];
};

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/**
 * OpenID Connect Back-Channel Logout 2.6. Anybody may post to us, so the signature is all that such a token has. The
 * event keeps an ID token from passing as one; that it has no nonce keeps it from passing as an ID token. Some providers leave
 * `exp` out: their tokens are good for the ten minutes that any may be old.
 */
export async function verifyLogoutToken(
  deps: { directory: Directory; clock: Clock },
  profile: Profile,
  metadata: Metadata,
  token: string,
  idTokenAlg: string | null,
): Promise<LogoutVerdict> {
  const signed = await verifySignature(deps, profile, metadata, token, ["logout+jwt", "jwt"], "anybody");
  if ("failed" in signed) return refused(signed.failed, signed.findings, false);
  const { header, payload } = signed;
  const { failed, findings } = upToFailure<LogoutPart>([
    // After the signature: of a token that the provider has signed its administrator is told, on the profile.
    ...signed.findings.filter(({ part }) => part !== "alg"),
    judgeAlgorithm(logoutAlgorithms(metadata, idTokenAlg), header.alg),
    ...judgeClaims(deps, profile, metadata, payload, { mayLackExp: true }),
    ...judgeLogout(payload),
  ]);
  if (failed) return refused(failed, findings, true);
  const { sub, sid, iat } = payload;
  return {
    subject: isSubject(sub) ? sub : null,
    idpSession: isIdpSession(sid) ? sid : null,
    // It may have a fraction (RFC 7519 2), which PostgreSQL does not take for a whole number.
    issuedAt: Math.round((iat as number) * 1000),
  };
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

/** A jti must be there but is not remembered: a token ends what began before it was issued, twice no more than once. */
function judgeLogout({ events, nonce, sub, sid, jti }: Document): Finding<LogoutPart>[] {
  return [
    { part: "events", passed: isObject(events) && isObject(events[EVENT]) },
    { part: "nonce", passed: nonce === undefined },
    { part: "sub", passed: isSubject(sub) || (sub === undefined && sid !== undefined) },
    { part: "sid", passed: isIdpSession(sid) || sid === undefined },
    { part: "jti", passed: typeof jti === "string" && jti !== "" },
  ];
}
