import { randomBytes } from "node:crypto";
import type { Answer, HttpClient } from "../load/http-client.ts";
import { codeRequest, SHOP, signInAtIdp, type WithCode } from "./steps.ts";
import { expectAnswer, type Target } from "./workload.ts";

/** The same sign-on through oidc-provider, whose login page redirects the shopper to the identity provider. */
export async function codeOfOidcProvider(
  client: HttpClient,
  { url, idp }: Target,
  person: string,
): Promise<WithCode> {
  const verifier = randomBytes(32).toString("base64url");
  const browser = createBrowser(client);
  const login = await browser.visit(`${url}/auth?${codeRequest(verifier)}`, url);
  const atIdp = await browser.visit(login, url);
  if (!atIdp.startsWith(`${idp}/authorize?`)) throw new Error(`not sent to the identity provider: ${atIdp}`);
  const resume = await browser.visit(await signInAtIdp(client, atIdp, person), url);
  const shop = await browser.visit(resume, url);
  const code = shop.startsWith(SHOP) ? new URL(shop).searchParams.get("code") : undefined;
  if (!code) throw new Error(`came back without a code: ${shop}`);
  return { code, verifier };
}

export async function redeemAtOidcProvider(
  client: HttpClient,
  { url }: Target,
  { code, verifier }: WithCode,
): Promise<void> {
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: "shop",
    redirect_uri: SHOP,
    code,
    code_verifier: verifier,
  });
  const answer = await client.send({
    url: `${url}/token`,
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: form.toString(),
  });
  expectAnswer(answer, 200, '"id_token":');
}

export async function signOnWithOidcProvider(
  client: HttpClient,
  target: Target,
  person: string,
): Promise<void> {
  await redeemAtOidcProvider(client, target, await codeOfOidcProvider(client, target, person));
}

/** Keeps cookies by name only, because a browser makes one sign-on. */
function createBrowser(client: HttpClient) {
  const cookies = new Map<string, string>();
  return {
    async visit(place: string, origin: string): Promise<string> {
      const Cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
      const answer: Answer = await client.send({ url: new URL(place, origin).href, headers: { Cookie } });
      for (const cookie of answer.cookies().split("; ")) {
        const equals = cookie.indexOf("=");
        if (equals > 0) cookies.set(cookie.slice(0, equals), cookie.slice(equals + 1));
      }
      const location = answer.header("location");
      if (location === undefined)
        throw new Error(`no redirect but ${answer.status}: ${answer.body.slice(0, 500)}`);
      return location;
    },
  };
}
