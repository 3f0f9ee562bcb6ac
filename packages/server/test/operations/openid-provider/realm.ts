import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, beforeEach } from "vitest";
import { getCustomer } from "../../../src/contract/customers.ts";
import { realmToken, userinfo } from "../../../src/contract/sign-on.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { type Answer, type Call, call } from "../../support/call.ts";
import { createFederation, type Federation, SHOP, type SignedOn } from "../../support/federation.ts";

/** A realm as an OpenID provider, and the calls of its clients. */

export let f: Federation;

export function realmAsProvider(): void {
  beforeEach(async () => {
    f = await createFederation();
  });
  afterEach(() => f.close());
}

export const UNKNOWN = "01890000-0000-7000-8000-000000000000";

export const ids = () => ({ store: f.store.store.id, realm: f.realmId });
export const outcome = ({ status, code, body }: Answer) => [status, code, body?.error];
export const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
});

type Changes = Record<string, string | undefined>;

/** The form of a token request of the public client. `undefined` leaves a field out. */
export function formOf(
  { code, pkce }: Pick<SignedOn, "code" | "pkce">,
  changes: Changes = {},
): Record<string, string> {
  const fields = {
    grant_type: "authorization_code",
    code,
    redirect_uri: SHOP,
    client_id: "customers",
    code_verifier: pkce.verifier,
    ...changes,
  };
  return Object.fromEntries(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}
export const redeem = (
  signedOn: Pick<SignedOn, "code" | "pkce">,
  changes: Changes = {},
  request: Call = {},
) => call(f.latchkey.app, realmToken, { ids: ids(), form: formOf(signedOn, changes), ...request });

type Tokens = { access_token: string; id_token: string; scope: string };
export const signIn = async (parameters: Changes = {}): Promise<Tokens> =>
  (await redeem(await f.signOn({ parameters }))).body;

export const askUserinfo = (authorization?: string, request: Call = {}) =>
  call(f.latchkey.app, userinfo, {
    ids: ids(),
    ...(authorization !== undefined && { headers: { authorization } }),
    ...request,
  });

export const isAlive = async (token: string): Promise<boolean> =>
  (await askUserinfo(`Bearer ${token}`)).status === 200;
/** True if the API accepts the token as the customer token of the customer that the token names. */
export async function opensItsCustomer(token: string): Promise<boolean> {
  const headers = { "x-customer-token": token };
  const request = {
    token: await f.store.token("implicit"),
    ids: { id: decodeJwt(token).sub as string },
    headers,
  };
  return (await call(f.latchkey.app, getCustomer, request)).status === 200;
}

export const algOf = (token: string) => decodeProtectedHeader(token).alg;

export const attempts = () => f.latchkey.storage.db.selectFrom("sign_on_attempts").selectAll().execute();

/** Sends a raw request. */
export const send = async (method: string, path: string, headers: Record<string, string> = {}) =>
  f.latchkey.app.fetch(new Request(`http://internal${path}`, { method, headers }));
export const pathOf = (rest: string) => `${f.issuer.slice(PUBLIC_URL.length)}${rest}`;

/** Replaces the federation of the running test by one with other settings. */
export async function withOptions(options: Parameters<typeof createFederation>[0]): Promise<void> {
  await f.close();
  f = await createFederation(options);
}
