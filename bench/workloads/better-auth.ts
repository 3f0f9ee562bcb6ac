import type { HttpClient } from "../load/http-client.ts";
import { SHOP, signInAtIdp } from "./steps.ts";
import { expectAnswer, source, type Target } from "./workload.ts";

/** The same sign-on through better-auth: two requests of the browser, then a session cookie. */
export async function signOnWithBetterAuth(
  client: HttpClient,
  { url, idp }: Target,
  person: string,
): Promise<string> {
  const from = source();
  const begun = await client.send({
    url: `${url}/api/auth/sign-in/social`,
    method: "POST",
    headers: { ...from, "Content-Type": "application/json", Origin: url },
    body: JSON.stringify({ provider: "bench", callbackURL: SHOP }),
  });
  const { url: atIdp } = JSON.parse(expectAnswer(begun, 200, `"url":"${idp}/authorize?`).body);
  const back = await signInAtIdp(client, atIdp, person);
  const returned = await client.send({ url: back, headers: { ...from, Cookie: begun.cookies() } });
  const location = expectAnswer(returned, 302).header("location") ?? "";
  const session = /better-auth\.session_token=[^;]+/.exec(returned.cookies())?.[0];
  if (location !== SHOP || !session) throw new Error(`no session after the callback: ${location}`);
  return session;
}
