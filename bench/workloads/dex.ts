import { randomBytes } from "node:crypto";
import type { HttpClient } from "../load/http-client.ts";
import { DEX_CLIENT } from "../yardsticks/dex.ts";
import { codeRequest, SHOP, signInAtIdp } from "./steps.ts";
import { expectAnswer, type Target } from "./workload.ts";

/** More redirects than a sign-on through dex has. */
const MOST_STEPS = 8;

/** The same sign-on through dex, which has redirects within itself and sets no cookie. */
export async function signOnWithDex(client: HttpClient, { url, idp }: Target, person: string): Promise<void> {
  const verifier = randomBytes(32).toString("base64url");
  let at = `${url}/auth?${codeRequest(verifier)}`;
  for (let step = 0; step < MOST_STEPS && !at.startsWith(SHOP); step++)
    at = at.startsWith(`${idp}/authorize?`)
      ? await signInAtIdp(client, at, person)
      : await follow(client, at);
  const code = at.startsWith(SHOP) ? new URL(at).searchParams.get("code") : undefined;
  if (!code) throw new Error(`came back without a code: ${at}`);
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    redirect_uri: SHOP,
    code,
    code_verifier: verifier,
  });
  const credentials = `${encodeURIComponent(DEX_CLIENT.id)}:${encodeURIComponent(DEX_CLIENT.secret)}`;
  const answer = await client.send({
    url: `${url}/token`,
    method: "POST",
    headers: {
      Authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
      "Content-Type": "application/x-www-form-urlencoded",
    },
    body: form.toString(),
  });
  expectAnswer(answer, 200, '"id_token":');
}

async function follow(client: HttpClient, url: string): Promise<string> {
  const answer = await client.send({ url });
  const location = answer.header("location");
  if (location === undefined)
    throw new Error(`no redirect but ${answer.status}: ${answer.body.slice(0, 500)}`);
  return new URL(location, url).href;
}
