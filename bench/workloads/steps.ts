import { createHash, randomBytes } from "node:crypto";
import type { HttpClient } from "../load/http-client.ts";
import { bearer, expectAnswer, source, type Target } from "./workload.ts";

/** The steps of a sign-on through Latchkey: the requests of a shopper's browser and of the storefront's server. */

export const SHOP = "https://shop.example/signed-in";

type Begun = { atIdp: string; cookie: string; verifier: string };
type Returned = { back: string; cookie: string; verifier: string };
export type WithCode = { code: string; verifier: string };

export async function begin(client: HttpClient, target: Target): Promise<Begun> {
  const { url, storeId, realmId, profileId, idp } = target;
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const query =
    `profile=${profileId}&scope=openid%20email&response_type=code&client_id=customers` +
    `&redirect_uri=${encodeURIComponent(SHOP)}&state=the-storefronts-state` +
    `&code_challenge_method=S256&code_challenge=${challenge}`;
  const answer = await client.send({
    url: `${url}/sign-on/stores/${storeId}/realms/${realmId}/authorize?${query}`,
    headers: source(),
  });
  const atIdp = expectAnswer(answer, 303).header("location") ?? "";
  if (!atIdp.startsWith(`${idp}/authorize?`)) throw new Error(`not sent to the identity provider: ${atIdp}`);
  return { atIdp, cookie: answer.cookies(), verifier };
}

/** Signs the person in at the identity provider. Gives the URL to which the provider redirects the browser. */
export async function signInAtIdp(client: HttpClient, atIdp: string, person: string): Promise<string> {
  const answer = await client.send({ url: `${atIdp}&person=${person}` });
  return expectAnswer(answer, 302).header("location") ?? "";
}

export async function goToIdp(client: HttpClient, target: Target, person: string): Promise<Returned> {
  const { atIdp, cookie, verifier } = await begin(client, target);
  return { back: await signInAtIdp(client, atIdp, person), cookie, verifier };
}

export async function comeBack(client: HttpClient, { back, cookie, verifier }: Returned): Promise<WithCode> {
  const answer = await client.send({ url: back, headers: { Cookie: cookie, ...source() } });
  const location = expectAnswer(answer, 303).header("location") ?? "";
  const code = new URL(location).searchParams.get("code");
  if (!location.startsWith(SHOP) || !code) throw new Error(`came back without a code: ${location}`);
  return { code, verifier };
}

export async function redeem(
  client: HttpClient,
  { url, implicitToken }: Target,
  { code, verifier }: WithCode,
): Promise<void> {
  const data = {
    type: "token",
    authentication_mechanism: "oidc",
    oauth_authorization_code: code,
    oauth_redirect_uri: SHOP,
    oauth_code_verifier: verifier,
  };
  const answer = await client.send({
    url: `${url}/v2/customers/tokens`,
    method: "POST",
    headers: { ...bearer(implicitToken), "Content-Type": "application/json" },
    body: JSON.stringify({ data }),
  });
  expectAnswer(answer, 200, '"customer_id":');
}

/** The authorization request that oidc-provider and dex expect from a client. */
export const codeRequest = (verifier: string): URLSearchParams =>
  new URLSearchParams({
    client_id: "shop",
    redirect_uri: SHOP,
    response_type: "code",
    scope: "openid email",
    state: "the-storefronts-state",
    code_challenge_method: "S256",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  });

const run = Date.now().toString(36);
let made = 0;
let visits = 0;
const KNOWN = 20;

/** A person without an earlier sign-on. */
export const newPerson = (): string => `${run}-${process.pid}-${++made}`;
/** The next of 20 persons who sign on again and again. */
export const knownPerson = (): string => `known-${++visits % KNOWN}`;
