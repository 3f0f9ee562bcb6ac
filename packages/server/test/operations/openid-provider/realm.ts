import { decodeProtectedHeader } from "jose";
import { afterEach, beforeEach } from "vitest";
import { realmToken, userinfo } from "../../../src/contract/sign-on.ts";
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

export const ids = () => ({ store: f.store.store.id, realm: f.realmId });
export const outcome = ({ status, code, body }: Answer) => [status, code, body?.error];
export const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
});

type Changes = Record<string, string | undefined>;

export function redeem(signedOn: Pick<SignedOn, "code" | "pkce">, changes: Changes = {}, request: Call = {}) {
  const fields = {
    grant_type: "authorization_code",
    code: signedOn.code,
    redirect_uri: SHOP,
    client_id: "customers",
    code_verifier: signedOn.pkce.verifier,
    ...changes,
  };
  const form = Object.fromEntries(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  return call(f.latchkey.app, realmToken, { ids: ids(), form, ...request });
}

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

export const algOf = (token: string) => decodeProtectedHeader(token).alg;

/** Replaces the federation of the running test by one with other settings. */
export async function withOptions(options: Parameters<typeof createFederation>[0]): Promise<void> {
  await f.close();
  f = await createFederation(options);
}
