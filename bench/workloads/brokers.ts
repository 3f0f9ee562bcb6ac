import { randomBytes } from "node:crypto";
import type { HttpClient } from "../load/http-client.ts";
import { DEX_CLIENT } from "../yardsticks/dex.ts";
import { codeRequest, SHOP, signInAtIdp, type WithCode } from "./steps.ts";
import { expectAnswer, type Target } from "./workload.ts";

/** The same sign-on through oidc-provider and through dex, which redirect the shopper to the identity provider. */

/** More redirects than any of these sign-ons has. */
const MOST_STEPS = 8;

/** Follows redirects from the authorization endpoint to the shop, as a browser that keeps cookies by name. */
export async function codeOfBroker(
  client: HttpClient,
  { url, idp }: Target,
  person: string,
): Promise<WithCode> {
  const verifier = randomBytes(32).toString("base64url");
  const cookies = new Map<string, string>();
  const follow = async (from: string): Promise<string> => {
    const headers = cookies.size > 0 ? { Cookie: [...cookies].map((pair) => pair.join("=")).join("; ") } : {};
    const answer = await client.send({ url: from, headers });
    for (const cookie of answer.cookies().split("; ")) {
      const equals = cookie.indexOf("=");
      if (equals > 0) cookies.set(cookie.slice(0, equals), cookie.slice(equals + 1));
    }
    const location = answer.header("location");
    if (location === undefined)
      throw new Error(`no redirect but ${answer.status}: ${answer.body.slice(0, 500)}`);
    return new URL(location, from).href;
  };
  let at = `${url}/auth?${codeRequest(verifier)}`;
  for (let step = 0; step < MOST_STEPS && !at.startsWith(SHOP); step++)
    at = at.startsWith(`${idp}/authorize?`) ? await signInAtIdp(client, at, person) : await follow(at);
  const code = at.startsWith(SHOP) ? new URL(at).searchParams.get("code") : undefined;
  if (!code) throw new Error(`came back without a code: ${at}`);
  return { code, verifier };
}

type Authentication = { form?: Record<string, string>; headers?: Record<string, string> };

async function redeemAt(
  client: HttpClient,
  { url }: Target,
  { code, verifier }: WithCode,
  { form = {}, headers = {} }: Authentication,
): Promise<void> {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    redirect_uri: SHOP,
    code,
    code_verifier: verifier,
    ...form,
  });
  const answer = await client.send({
    url: `${url}/token`,
    method: "POST",
    headers: { ...headers, "Content-Type": "application/x-www-form-urlencoded" },
    body: body.toString(),
  });
  expectAnswer(answer, 200, '"id_token":');
}

export const redeemAtOidcProvider = (client: HttpClient, target: Target, withCode: WithCode): Promise<void> =>
  redeemAt(client, target, withCode, { form: { client_id: "shop" } });

const dexCredentials = `${encodeURIComponent(DEX_CLIENT.id)}:${encodeURIComponent(DEX_CLIENT.secret)}`;

export async function signOnWithDex(client: HttpClient, target: Target, person: string): Promise<void> {
  const headers = { Authorization: `Basic ${Buffer.from(dexCredentials).toString("base64")}` };
  await redeemAt(client, target, await codeOfBroker(client, target, person), { headers });
}
