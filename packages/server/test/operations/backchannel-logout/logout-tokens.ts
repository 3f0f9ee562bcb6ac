import { afterEach, beforeEach } from "vitest";
import { getCustomer } from "../../../src/contract/customers.ts";
import { backchannelLogout } from "../../../src/contract/sign-on.ts";
import { type Answer, type Call, call } from "../../support/call.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";

/** Customers with sessions at one provider, and the logout tokens that the provider sends. */

export let f: Federation;

export function providerSessions(): void {
  beforeEach(async () => {
    f = await createFederation();
  });
  afterEach(() => f.close());
}

export const EVENT = "http://schemas.openid.net/event/backchannel-logout";
export const UNKNOWN = "01890000-0000-7000-8000-000000000000";
export const PASSWORD = "correct horse";
export const BEA = { ...ADA, sub: "bea", email: "bea@shop.example", sid: "session-bea" };

export type Session = { token: string; customer: string };

export async function signIn(person: object = ADA, profile = f.profileId): Promise<Session> {
  f.idp.person = { ...person };
  const token = await f.store.token("implicit");
  const { data } = (await f.redeem(await f.signOn({ parameters: { profile } }), {}, { token })).body;
  return { token: data.token, customer: data.customer_id };
}

export const isAlive = async ({ token, customer }: Session, { app } = f.latchkey): Promise<boolean> => {
  const headers = { "x-customer-token": token };
  const answer = await call(app, getCustomer, {
    token: await f.store.token("implicit"),
    ids: { id: customer },
    headers,
  });
  return answer.status === 200;
};

export const nowSeconds = () => Math.floor(f.latchkey.clock.now() / 1000);
/** The claims of a good logout token for one session. `undefined` leaves a claim out. */
export const good = (changes: object = {}) => ({
  iss: f.idp.issuer,
  aud: f.idp.clientId,
  iat: nowSeconds(),
  exp: nowSeconds() + 120,
  jti: "one",
  sub: ADA.sub,
  sid: ADA.sid,
  events: { [EVENT]: {} },
  ...changes,
});
export const ids = (profile = f.profileId) => ({ store: f.store.store.id, realm: f.realmId, profile });
export const post = (token: string, request: Call = {}) =>
  call(f.latchkey.app, backchannelLogout, { ids: ids(), form: { logout_token: token }, ...request });
export const logOut = (changes: object = {}, request: Call = {}) =>
  post(f.idp.signToken(good(changes)), request);
export const outcome = ({ status, code }: Answer) => [status, code];

/** Replaces the federation of the running test by one with other settings. */
export async function withOptions(options: Parameters<typeof createFederation>[0]): Promise<void> {
  await f.close();
  f = await createFederation(options);
}
