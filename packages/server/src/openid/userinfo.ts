import { limits } from "../contract/limits.ts";
import type { IdpAnswer, SignOnReason } from "../contract/sign-on-reasons.ts";
import { type EgressAnswer, isEgressFault } from "../egress/egress-message.ts";
import type { Clock } from "../lib/clock.ts";
import { show } from "../lib/show.ts";
import type { Sender } from "../profiles/calls.ts";
import type { Directory } from "../profiles/directory.ts";
import type { Profile } from "../profiles/profile.ts";
import { ALGORITHMS, type Document, documentIn, type Metadata, readAnswer } from "./discovery.ts";
import { type Finding, isUnexpired, type Signed, showInstant, verifySignature } from "./id-token.ts";
import { saidIn, toIdpAnswer } from "./idp-answer.ts";
import { evidenceOf } from "./refused-json.ts";

type UserinfoReason = Extract<SignOnReason, `userinfo.${string}`>;
/** Both sides of what was compared; nothing where no two things were. */
type Evidence = { expected?: string; found?: string };
type Refused = { reason: UserinfoReason; answer: IdpAnswer; evidence?: Evidence };
type Unusable = { reason: UserinfoReason; evidence?: Evidence };
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
      storeId: profile.store_id,
      headers: { Authorization: `Bearer ${accessToken}`, Accept: "application/json, application/jwt" },
      maxBytes: limits.idpAnswerBytes,
    });
    const read = await readClaims(deps, profile, metadata, answer);
    if ("reason" in read) {
      const said = saidIn(documentIn(answer));
      const { status } = answer;
      return { ...read, answer: toIdpAnswer("userinfo", { status }, said, [accessToken]) };
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
): Promise<Claims | Unusable> {
  if (answer.status !== 200) return { reason: "userinfo.unavailable" };
  if (/^application\/jwt\s*(;|$)/i.test(answer.headers["content-type"] ?? ""))
    return readSigned(deps, profile, metadata, answer.body.toString("latin1").trim());
  const read = readAnswer(answer);
  if ("document" in read) return { claims: read.document };
  const evidence = evidenceOf(read);
  return evidence ? { reason: "userinfo.json", evidence } : { reason: "userinfo.malformed" };
}

/** Whom it is from and for is looked at where it says so, as it should (Core 5.3.2), and so is its end. */
async function readSigned(
  deps: Deps,
  profile: Profile,
  metadata: Metadata,
  token: string,
): Promise<Claims | Unusable> {
  // It has a list of algorithms of its own, which need not be that of ID tokens.
  const trusted = { ...metadata, signingAlgorithms: ALGORITHMS };
  const signed = await verifySignature(deps, profile, trusted, token, ["jwt"]);
  if ("failed" in signed) return unusable(signed);
  const { iss, aud, exp } = signed.payload;
  const { client_id: clientId } = profile;
  const compared = [
    {
      passed: iss === undefined || iss === metadata.issuer,
      expected: `the issuer ${show(metadata.issuer)}`,
      found: `the issuer ${show(iss)}`,
    },
    {
      passed: aud === undefined || [aud].flat().includes(clientId),
      expected: `for the client ${clientId}`,
      found: `for ${show(aud)}`,
    },
    {
      passed: exp === undefined || isUnexpired(deps.clock, exp),
      expected: "not expired",
      found: `the end ${showInstant(exp)}`,
    },
  ];
  const failed = compared.find(({ passed }) => !passed);
  if (!failed) return { claims: signed.payload, isSigned: true };
  const { expected, found } = failed;
  return { reason: "userinfo.signature", evidence: { expected, found } };
}

/** Whose signature it has was not established: the last thing that was looked at says why. */
function unusable({ failed, findings }: Extract<Signed, { failed: unknown }>): Unusable {
  if (failed === "keys_unread") return { reason: "userinfo.unavailable" };
  const { part: _, passed: __, ...evidence } = findings.at(-1) as Finding<string>;
  if (failed === "encrypted" || failed === "malformed" || failed === "json")
    return { reason: `userinfo.${failed}`, evidence };
  const key = findings.find(({ part }) => part === "key")?.found;
  const forged = { expected: `a signature by the key ${key}`, found: "another signature" };
  return { reason: "userinfo.signature", evidence: failed === "signature" ? forged : evidence };
}
