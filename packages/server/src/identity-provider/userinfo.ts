import { limits } from "../contract/limits.ts";
import type { IdpAnswer, SignOnReason } from "../contract/sign-on-reasons.ts";
import type { Clock } from "../lib/clock.ts";
import type { Sender } from "./calls.ts";
import type { Directory } from "./directory.ts";
import { ALGORITHMS, type Document, documentIn, type Metadata } from "./discovery.ts";
import { type EgressAnswer, isEgressFault } from "./egress-message.ts";
import { isUnexpired, verifySignature } from "./id-token.ts";
import { saidIn, toIdpAnswer } from "./idp-answer.ts";
import type { Profile } from "./profile.ts";

type UserinfoReason = Extract<SignOnReason, `userinfo.${string}`>;
type Refused = { reason: UserinfoReason; answer: IdpAnswer };
type Claims = { claims: Document; isSigned?: true };
type Userinfo = Claims | Refused;

type Deps = { calls: Sender; directory: Directory; clock: Clock };

/**
 * What the UserInfo endpoint says of the ID token's subject. About anybody else it says nothing that we may use (Core
 * 5.3.2). Plain or signed; claims that it points to elsewhere are not fetched: that would let it send us anywhere.
 */
export async function fetchUserinfo(
  deps: Deps,
  profile: Profile,
  metadata: Metadata,
  accessToken: string,
  subject: string,
): Promise<Userinfo> {
  const { userinfoEndpoint: url } = metadata;
  // A token with a line break in it is no token (RFC 6749 A.12), and would be a second header.
  if (url === null || !/^[\x21-\x7e]+$/.test(accessToken))
    return { reason: "userinfo.unavailable", answer: toIdpAnswer("userinfo", { fault: "not_asked" }) };
  try {
    const answer = await deps.calls.send(profile.id, {
      kind: "userinfo",
      url,
      headers: { Authorization: `Bearer ${accessToken}`, Accept: "application/json, application/jwt" },
      maxBytes: limits.idpAnswerBytes,
    });
    const read = await readClaims(deps, profile, metadata, answer);
    if ("reason" in read) {
      const said = saidIn(documentIn(answer));
      const { status } = answer;
      return { reason: read.reason, answer: toIdpAnswer("userinfo", { status }, said, [accessToken]) };
    }
    if (read.claims.sub === subject) return read;
    return { reason: "userinfo.sub", answer: toIdpAnswer("userinfo", { status: answer.status }) };
  } catch (error) {
    if (!isEgressFault(error)) throw error;
    return { reason: "userinfo.unavailable", answer: toIdpAnswer("userinfo", { fault: error.reason }) };
  }
}

async function readClaims(
  deps: Deps,
  profile: Profile,
  metadata: Metadata,
  answer: EgressAnswer,
): Promise<Claims | { reason: UserinfoReason }> {
  if (answer.status !== 200) return { reason: "userinfo.unavailable" };
  if (/^application\/jwt\s*(;|$)/i.test(answer.headers["content-type"] ?? ""))
    return readSigned(deps, profile, metadata, answer.body.toString("latin1").trim());
  const claims = documentIn(answer);
  return claims ? { claims } : { reason: "userinfo.malformed" };
}

/** Whom it is from and for is looked at where it says so, as it should (Core 5.3.2), and so is its end. */
async function readSigned(
  deps: Deps,
  profile: Profile,
  metadata: Metadata,
  token: string,
): Promise<Claims | { reason: UserinfoReason }> {
  // It has a list of algorithms of its own, which need not be that of ID tokens.
  const trusted = { ...metadata, signingAlgorithms: ALGORITHMS };
  const signed = await verifySignature(deps, profile, trusted, token, ["jwt"]);
  if ("failed" in signed) {
    const { failed } = signed;
    if (failed === "keys_unread") return { reason: "userinfo.unavailable" };
    return {
      reason: failed === "encrypted" || failed === "malformed" ? `userinfo.${failed}` : "userinfo.signature",
    };
  }
  const { iss, aud, exp } = signed.payload;
  const isOurs = aud === undefined || [aud].flat().includes(profile.clientId);
  const isMeant = (iss === undefined || iss === metadata.issuer) && isOurs;
  const isGood = isMeant && (exp === undefined || isUnexpired(deps.clock, exp));
  return isGood ? { claims: signed.payload, isSigned: true } : { reason: "userinfo.signature" };
}
