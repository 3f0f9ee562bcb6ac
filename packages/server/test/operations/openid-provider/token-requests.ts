import { decodeJwt } from "jose";
import { afterEach, beforeEach } from "vitest";
import { getCustomer } from "../../../src/contract/customers.ts";
import { realmToken } from "../../../src/contract/sign-on.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { type Answer, type Call, call } from "../../support/call.ts";
import { createFederation, type Federation, SHOP, type SignedOn } from "../../support/federation.ts";

/** Token requests of public clients at the realm. */

export let f: Federation;

export function tokenRequests(): void {
  beforeEach(async () => {
    f = await createFederation();
  });
  afterEach(() => f.close());
}

export const UNKNOWN = "01890000-0000-7000-8000-000000000000";

export const ids = () => ({ store: f.store.store.id, realm: f.realmId });
export const formOf = (
  { code, pkce }: Pick<SignedOn, "code" | "pkce">,
  changes: Record<string, string> = {},
) => ({
  grant_type: "authorization_code",
  code,
  redirect_uri: SHOP,
  client_id: "customers",
  code_verifier: pkce.verifier,
  ...changes,
});
export const redeem = (
  signedOn: Pick<SignedOn, "code" | "pkce">,
  changes: Record<string, string> = {},
  request: Call = {},
) => call(f.latchkey.app, realmToken, { ids: ids(), form: formOf(signedOn, changes), ...request });
export const outcome = ({ status, code, body }: Answer) => [status, code, body.error];
export const attempts = () => f.latchkey.storage.db.selectFrom("sign_on_attempts").selectAll().execute();
export const isAlive = async (token: string) => {
  const headers = { "x-customer-token": token };
  const id = decodeJwt(token).sub as string;
  const bearer = await f.store.token("implicit");
  return (await call(f.latchkey.app, getCustomer, { token: bearer, ids: { id }, headers })).status === 200;
};
/** Sends a raw request. */
export const send = async (method: string, path: string, headers: Record<string, string> = {}) =>
  f.latchkey.app.fetch(new Request(`http://internal${path}`, { method, headers }));
export const pathOf = (rest: string) => `${f.issuer.slice(PUBLIC_URL.length)}${rest}`;

/** Replaces the federation of the running test by one with other settings. */
export async function withOptions(options: Parameters<typeof createFederation>[0]): Promise<void> {
  await f.close();
  f = await createFederation(options);
}
