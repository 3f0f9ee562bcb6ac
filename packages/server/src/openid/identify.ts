import { limits } from "../contract/limits.ts";
import type { IdpAnswer, SignOnCheck, SignOnReason } from "../contract/sign-on-reasons.ts";
import { parseEmail } from "../lib/email-address.ts";
import { show } from "../lib/show.ts";
import type { IdpClient } from "./client.ts";
import { type JsonObject, textOf } from "./discovery.ts";
import { type ExpectedNonce, isIdpSession, verifyIdToken } from "./id-token.ts";
import { fetchUserinfo } from "./userinfo.ts";

/** A person at an identity provider. Only issuer and subject together identify the person (OpenID Connect Core 5.7). */
export type Identity = {
  issuer: string;
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string | null;
  /** The provider's id of the browser's session (`sid`), which a logout token may name. */
  idpSession: string | null;
  /** When the person last signed in at the provider, in seconds, if the provider sends it. */
  authTime?: number;
};

type Identified =
  /** `algorithm`: the algorithm of the ID token's signature. */
  | { identity: Identity; algorithm: string; checks: SignOnCheck[] }
  /** `email`: from a token that the provider has signed and that was refused. Used only to find the record. */
  | { reason: SignOnReason; checks: SignOnCheck[]; answer?: IdpAnswer; email?: string };

/** From the token endpoint's answer to a person. UserInfo is read only when the ID token has no e-mail. */
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

  // E-mail and email_verified come from the same payload: one payload must not verify the other's address.
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

/** An unusable e-mail counts as present: the fault must show, and UserInfo is not read instead. */
const hasEmail = ({ email }: JsonObject): boolean => email !== undefined && email !== null && email !== "";

/** A name that cannot be shown is left out; the sign-on goes on. */
function nameOf(claims: JsonObject): string | null {
  const name = textOf(claims, "name")?.trim() ?? "";
  const isName = name !== "" && name.length <= limits.nameLength && /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u.test(name);
  return isName ? name : null;
}
