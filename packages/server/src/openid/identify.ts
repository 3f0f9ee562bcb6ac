import { limits } from "../contract/limits.ts";
import type { IdpAnswer, SignOnCheck, SignOnReason } from "../contract/sign-on-reasons.ts";
import { parseEmail } from "../lib/email-address.ts";
import { show } from "../lib/show.ts";
import type { IdpClient } from "./client.ts";
import { type JsonObject, textOf } from "./discovery.ts";
import { type ExpectedNonce, isIdpSession, verifyIdToken } from "./id-token.ts";
import { fetchUserinfo } from "./userinfo.ts";

/** What an identity provider says of a person. Only issuer and subject together say who it is (Core 5.7). */
export type Identity = {
  issuer: string;
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string | null;
  /** Its name for the session with the browser; logout tokens may speak of it. */
  idpSession: string | null;
  /** When the person last showed who they are, in seconds, where the provider says so. */
  authTime?: number;
};

type Identified =
  /** `algorithm`: of the ID token's signature. */
  | { identity: Identity; algorithm: string; checks: SignOnCheck[] }
  /** `email`: of a token that the provider has signed and that was refused all the same. Good for finding the record, and for nothing else. */
  | { reason: SignOnReason; checks: SignOnCheck[]; answer?: IdpAnswer; email?: string };

/** From the token endpoint's answer to a person. UserInfo is asked only when the ID token has no e-mail. */
export async function identify(
  client: IdpClient,
  tokens: JsonObject,
  nonce: ExpectedNonce,
): Promise<Identified> {
  const { metadata } = client;
  const checks: SignOnCheck[] = [];
  const refuse = (
    reason: SignOnReason,
    check: Partial<SignOnCheck> = {},
    answer?: IdpAnswer,
  ): Identified => ({
    reason,
    checks: [...checks, { check: reason, passed: false, ...check }],
    ...(answer && { answer }),
  });

  const type = { expected: "Bearer", found: show(tokens.token_type) };
  if (textOf(tokens, "token_type")?.toLowerCase() !== "bearer") return refuse("token.type", type);
  checks.push({ check: "token.type", passed: true, ...type });

  const idToken = textOf(tokens, "id_token");
  if (idToken === undefined) return refuse("id_token.missing");
  const accessToken = textOf(tokens, "access_token");
  const verdict = await verifyIdToken(client, idToken, { nonce, accessToken });
  checks.push(...verdict.checks);
  if ("reason" in verdict) {
    const email = verdict.refused && textOf(verdict.refused, "email");
    return { reason: verdict.reason, checks, ...(email !== undefined && { email }) };
  }
  const own = verdict.claims;
  const subject = own.sub as string;

  let userinfo: JsonObject = {};
  if (!hasEmail(own) && metadata.userinfoEndpoint !== null && accessToken !== undefined) {
    const answer = await fetchUserinfo(client, accessToken, subject);
    if ("reason" in answer) return refuse(answer.reason, answer.evidence, answer.answer);
    if (answer.isSigned) checks.push({ check: "userinfo.signature", passed: true, ...SIGNED });
    checks.push({ check: "userinfo.sub", passed: true });
    userinfo = answer.claims;
  }

  // The two payloads are never mixed: what one says is verified is not the address that the other gives.
  const source = hasEmail(own) ? own : userinfo;
  const place = source === own ? "in the ID token" : "in UserInfo";
  const emailCheck = {
    check: "claims.email",
    expected: "one plain address",
    found: hasEmail(source)
      ? `${place}, email_verified ${show(JSON.stringify(source.email_verified))}`
      : "absent",
  };
  if (!hasEmail(source)) return refuse("claims.email_missing", emailCheck);
  const email = typeof source.email === "string" ? parseEmail(source.email) : undefined;
  if (!email) return refuse("claims.email_invalid", emailCheck);
  checks.push({ ...emailCheck, passed: true });

  const identity: Identity = {
    issuer: metadata.issuer,
    subject,
    email: email.shown,
    emailVerified: source.email_verified === true,
    name: nameOf(own) ?? nameOf(userinfo),
    idpSession: isIdpSession(own.sid) ? own.sid : null,
    ...(typeof own.auth_time === "number" && { authTime: own.auth_time }),
  };
  return { identity, algorithm: verdict.algorithm, checks };
}

const SIGNED = { expected: "signed by the provider, for this client", found: "so signed" };

/** Of whatever kind: an e-mail that is there and unusable is a fault to be seen, not one to be looked for elsewhere. */
const hasEmail = ({ email }: JsonObject): boolean => email !== undefined && email !== null && email !== "";

/** Nobody is refused for a name that we cannot show. */
function nameOf(claims: JsonObject): string | null {
  const name = textOf(claims, "name")?.trim() ?? "";
  const isName = name !== "" && name.length <= limits.nameLength && /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u.test(name);
  return isName ? name : null;
}
