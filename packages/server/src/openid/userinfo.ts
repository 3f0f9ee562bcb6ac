import { limits } from "../contract/limits.ts";
import type { IdpAnswer, SignOnReason } from "../contract/sign-on-reasons.ts";
import { type EgressAnswer, isEgressFault } from "../egress/egress-message.ts";
import { show } from "../lib/show.ts";
import type { IdpClient } from "./client.ts";
import { ALGORITHMS, documentIn, type JsonObject, readAnswer } from "./discovery.ts";
import {
  type Finding,
  isUnexpired,
  type SignatureVerdict,
  showInstant,
  verifySignature,
} from "./id-token.ts";
import { errorIn, toIdpAnswer } from "./idp-answer.ts";
import { evidenceOf } from "./refused-json.ts";

type UserinfoReason = Extract<SignOnReason, `userinfo.${string}`>;
/** `evidence`: both sides of the comparison that failed; empty where nothing was compared. */
type Unusable = { reason: UserinfoReason; evidence?: { expected?: string; found?: string } };
type UserinfoClaims = { claims: JsonObject; isSigned?: true };
type Userinfo = UserinfoClaims | (Unusable & { answer: IdpAnswer });

/**
 * The UserInfo claims of the ID token's subject; claims of another subject are refused (OpenID Connect Core 5.3.2).
 * Plain or signed. Claims that the answer points to elsewhere are not fetched: a provider could point Latchkey at any
 * address.
 */
export async function fetchUserinfo(
  client: IdpClient,
  accessToken: string,
  subject: string,
): Promise<Userinfo> {
  const { userinfoEndpoint: url } = client.metadata;
  // A line break is not allowed in a token (RFC 6749 A.12), and would add a second header.
  if (url === null || !/^[\x21-\x7e]+$/.test(accessToken))
    return { reason: "userinfo.unavailable", answer: toIdpAnswer("userinfo", { fault: "not_asked" }) };
  try {
    const answer = await client.send({
      kind: "userinfo",
      url,
      headers: { Authorization: `Bearer ${accessToken}`, Accept: "application/json, application/jwt" },
      maxBytes: limits.idpAnswerBytes,
    });
    const read = await readClaims(client, answer);
    if ("reason" in read) {
      const said = errorIn(documentIn(answer));
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

async function readClaims(client: IdpClient, answer: EgressAnswer): Promise<UserinfoClaims | Unusable> {
  if (answer.status !== 200) return { reason: "userinfo.unavailable" };
  if (/^application\/jwt\s*(;|$)/i.test(answer.headers["content-type"] ?? ""))
    return readSigned(client, answer.body.toString("latin1").trim());
  const read = readAnswer(answer);
  if ("document" in read) return { claims: read.document };
  const evidence = evidenceOf(read);
  return evidence ? { reason: "userinfo.json", evidence } : { reason: "userinfo.malformed" };
}

/** Issuer, audience and expiry are checked if present (OpenID Connect Core 5.3.2). */
async function readSigned(client: IdpClient, token: string): Promise<UserinfoClaims | Unusable> {
  const { keys, clientId, clock } = client;
  // The list of algorithms in the metadata is for ID tokens; UserInfo has a list of its own, which is not read.
  const metadata = { ...client.metadata, signingAlgorithms: ALGORITHMS };
  const signed = await verifySignature({ keys, metadata }, token, ["jwt"]);
  if ("failed" in signed) return unusable(signed);
  const { iss, aud, exp } = signed.payload;
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
      passed: exp === undefined || isUnexpired(clock, exp),
      expected: "not expired",
      found: `the end ${showInstant(exp)}`,
    },
  ];
  const failed = compared.find(({ passed }) => !passed);
  if (!failed) return { claims: signed.payload, isSigned: true };
  const { expected, found } = failed;
  return { reason: "userinfo.signature", evidence: { expected, found } };
}

/** The signature was not verified: the last finding has the cause. */
function unusable({ failed, findings }: Extract<SignatureVerdict, { failed: unknown }>): Unusable {
  if (failed === "keys_unread") return { reason: "userinfo.unavailable" };
  const { part: _, passed: __, ...evidence } = findings.at(-1) as Finding<string>;
  if (failed === "encrypted" || failed === "malformed" || failed === "json")
    return { reason: `userinfo.${failed}`, evidence };
  const key = findings.find(({ part }) => part === "key")?.found;
  const forged = { expected: `a signature by the key ${key}`, found: "another signature" };
  return { reason: "userinfo.signature", evidence: failed === "signature" ? forged : evidence };
}
