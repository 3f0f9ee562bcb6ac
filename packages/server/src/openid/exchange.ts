import { limits } from "../contract/limits.ts";
import type { IdpAnswer, SignOnCheck, SignOnReason } from "../contract/sign-on-reasons.ts";
import { type EgressAnswer, isEgressFault } from "../egress/egress-message.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import type { Calls } from "../profiles/calls.ts";
import { openSecrets } from "../profiles/client-secret.ts";
import type { Profile } from "../profiles/profile.ts";
import { promoteNextSecret } from "../profiles/promote-secret.ts";
import type { Storage } from "../storage/storage.ts";
import { type Document, type Metadata, readAnswer } from "./discovery.ts";
import { refusalOf, saidIn, toIdpAnswer } from "./idp-answer.ts";

/** What the identity provider's redirect brought, and what belongs to it on our side. */
export type IdpGrant = { idpCode: string; idpVerifier: string; idpRedirectUri: string };

/** It answered, and said no; or it gave no answer to go by. */
type Refused = Extract<SignOnReason, `token.${string}`>;
type Exchanged = { tokens: Document } | { reason: Refused; answer: IdpAnswer; checks?: SignOnCheck[] };

type Deps = {
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  calls: Pick<Calls, "aboutCodes" | "healthOf">;
};

/**
 * Redeems a code at the identity provider. When it refuses our client secret and a next one is set, that one is tried, and
 * takes the first one's place when it works: so a secret is replaced there and here at different times without an
 * outage. A code is never tried again for any other reason.
 */
export async function exchangeCode(
  deps: Deps,
  profile: Profile,
  metadata: Metadata,
  grant: IdpGrant,
): Promise<Exchanged> {
  const secrets = openSecrets(deps, profile);
  const { current, next } = secrets;
  const first = await request(deps, profile, metadata, grant, current);
  if (next === undefined || !("reason" in first) || first.reason !== "token.client_refused") return first;
  const second = await request(deps, profile, metadata, grant, next);
  if ("tokens" in second) await promoteNextSecret(deps, profile, secrets);
  return second;
}

async function request(
  { calls }: Deps,
  profile: Profile,
  metadata: Metadata,
  grant: IdpGrant,
  clientSecret: string,
): Promise<Exchanged> {
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code: grant.idpCode,
    redirect_uri: grant.idpRedirectUri,
    code_verifier: grant.idpVerifier,
  });
  const credentials = toBasic(profile.client_id, clientSecret);
  const secrets = [clientSecret, grant.idpCode, grant.idpVerifier];
  try {
    const answer = await calls.aboutCodes.send(profile.id, {
      kind: "token",
      url: metadata.tokenEndpoint,
      storeId: profile.store_id,
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
      isEncoded(profile, clientSecret);
    return isDoubtful ? { ...exchanged, checks: [ENCODED] } : exchanged;
  } catch (error) {
    if (!isEgressFault(error)) throw error;
    return { reason: "token.unavailable", answer: toIdpAnswer("token", { fault: error.reason }) };
  }
}

/** Whatever a fault of its own or 429 has in its body, the provider did not answer the question. */
function judge(answer: EgressAnswer, sent: readonly string[]): Exchanged {
  const { status } = answer;
  const read = readAnswer(answer);
  const document = "document" in read ? read.document : undefined;
  const said = saidIn(document);
  const refusal = status < 500 && status !== 429 ? refusalOf(status, said) : undefined;
  if (refusal) return { reason: `token.${refusal}`, answer: toIdpAnswer("token", { status }, said, sent) };
  if (status === 200 && document) return { tokens: document };
  const fault = status === 200 && "refusal" in read ? read.refusal : "status_not_200";
  return { reason: "token.unavailable", answer: toIdpAnswer("token", { status, fault }, said, sent) };
}

/** RFC 6749 2.3.1: each half is form-encoded before the two are joined; a colon or plus in a secret depends on it. */
const toBasic = (clientId: string, clientSecret: string): string =>
  Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64");

/** That they have such characters, and not which: a secret is never shown. */
const ENCODED: SignOnCheck = {
  check: "token.encoded_credentials",
  passed: false,
  expected: "letters, digits, -, . and _ in client id and secret",
  found: "other characters, which are sent percent-encoded",
};

/** A space does not count: decoders of either kind read it. */
const isEncoded = ({ client_id: clientId }: Profile, clientSecret: string): boolean =>
  [clientId, clientSecret].some((text) => formEncoded(text).replaceAll("%20", " ") !== text);

/** A space as `%20`: decoders of forms read it as they read `+`, and decoders of percent signs alone would keep the `+`. */
const formEncoded = (text: string): string => inForm(text).replaceAll("+", "%20");

/** As a form has it, with `+` for a space. */
const inForm = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);
