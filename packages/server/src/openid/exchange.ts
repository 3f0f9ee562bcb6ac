import { limits } from "../contract/limits.ts";
import type { IdpAnswer, SignOnCheck, SignOnReason } from "../contract/sign-on-reasons.ts";
import { type EgressAnswer, isEgressFault } from "../egress/egress-message.ts";
import type { IdpClient } from "./client.ts";
import { type JsonObject, readAnswer } from "./discovery.ts";
import { errorIn, refusalOf, toIdpAnswer } from "./idp-answer.ts";

/** The code of the identity provider's redirect, and the verifier and redirect URI that Latchkey used for it. */
export type IdpGrant = { idpCode: string; idpVerifier: string; idpRedirectUri: string };

/** The client secret in use, and the secret that may have replaced it at the provider. */
export type Secrets = { current: string; next: string | undefined };

type ExchangeRefused = {
  reason: Extract<SignOnReason, `token.${string}`>;
  answer: IdpAnswer;
  checks?: SignOnCheck[];
};
type TokenAnswer = { tokens: JsonObject } | ExchangeRefused;
/** `secret`: which of the two the provider accepted. */
type CodeExchange = { tokens: JsonObject; secret: keyof Secrets } | ExchangeRefused;

type ExchangeClient = Pick<IdpClient, "clientId" | "metadata" | "send">;

/**
 * Redeems a code at the identity provider. When the provider refuses the client secret and a next one is set, the next
 * one is tried: so a secret can be replaced there and here at different times without an outage. A code is sent a
 * second time for no other reason.
 */
export async function exchangeCode(
  client: ExchangeClient,
  secrets: Secrets,
  grant: IdpGrant,
): Promise<CodeExchange> {
  const { current, next } = secrets;
  const first = await request(client, grant, current);
  if ("tokens" in first) return { ...first, secret: "current" };
  if (next === undefined || first.reason !== "token.client_refused") return first;
  const second = await request(client, grant, next);
  return "tokens" in second ? { ...second, secret: "next" } : second;
}

async function request(
  { clientId, metadata, send }: ExchangeClient,
  grant: IdpGrant,
  clientSecret: string,
): Promise<TokenAnswer> {
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code: grant.idpCode,
    redirect_uri: grant.idpRedirectUri,
    code_verifier: grant.idpVerifier,
  });
  const credentials = toBasic(clientId, clientSecret);
  const secrets = [clientSecret, grant.idpCode, grant.idpVerifier];
  try {
    const answer = await send({
      kind: "token",
      url: metadata.tokenEndpoint,
      method: "POST",
      headers: {
        Authorization: `Basic ${credentials}`,
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: form.toString(),
      maxBytes: limits.idpAnswerBytes,
    });
    const sent = [credentials, ...secrets, ...secrets.map(formEncoded), ...secrets.map(inForm)];
    const exchanged = judge(answer, sent);
    const isDoubtful =
      "reason" in exchanged &&
      exchanged.reason === "token.client_refused" &&
      isEncoded(clientId, clientSecret);
    return isDoubtful ? { ...exchanged, checks: [ENCODED] } : exchanged;
  } catch (error) {
    if (!isEgressFault(error)) throw error;
    return { reason: "token.unavailable", answer: toIdpAnswer("token", { fault: error.reason }) };
  }
}

/** The body of a 5xx or a 429 is not read as a refusal: the provider did not answer the question. */
function judge(answer: EgressAnswer, sent: readonly string[]): TokenAnswer {
  const { status } = answer;
  const read = readAnswer(answer);
  const document = "document" in read ? read.document : undefined;
  const said = errorIn(document);
  const refusal = status < 500 && status !== 429 ? refusalOf(status, said) : undefined;
  if (refusal) return { reason: `token.${refusal}`, answer: toIdpAnswer("token", { status }, said, sent) };
  if (status === 200 && document) return { tokens: document };
  const fault = status === 200 && "refusal" in read ? read.refusal : "status_not_200";
  return { reason: "token.unavailable", answer: toIdpAnswer("token", { status, fault }, said, sent) };
}

/** RFC 6749 2.3.1: each half is form-encoded before the two are joined; a colon or plus in a secret depends on it. */
const toBasic = (clientId: string, clientSecret: string): string =>
  Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64");

/** Says that there are such characters, not which: a secret is never shown. */
const ENCODED: SignOnCheck = {
  check: "token.encoded_credentials",
  passed: false,
  expected: "letters, digits, -, . and _ in client id and secret",
  found: "other characters, which are sent percent-encoded",
};

/** A space does not count: both kinds of decoders read `%20`. */
const isEncoded = (clientId: string, clientSecret: string): boolean =>
  [clientId, clientSecret].some((text) => formEncoded(text).replaceAll("%20", " ") !== text);

/** A space as `%20`, which decoders of forms read, too; decoders of percent signs alone would keep a `+`. */
const formEncoded = (text: string): string => inForm(text).replaceAll("+", "%20");

/** As a form has it, with `+` for a space. */
const inForm = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);
