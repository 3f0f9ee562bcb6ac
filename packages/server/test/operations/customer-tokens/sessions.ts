import { afterEach, beforeEach } from "vitest";
import { listCustomerTokens } from "../../../src/contract/customer-tokens.ts";
import type { Operation } from "../../../src/contract/operation.ts";
import { type Answer, type Call, call } from "../../support/call.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";

/** Customers who sign in through one provider, and the calls they make with their tokens. */

export let f: Federation;

export function customerSessions(): void {
  beforeEach(async () => {
    f = await createFederation();
  });
  afterEach(() => f.close());
}

export const UNKNOWN = "01890000-0000-7000-8000-000000000000";
export const PASSWORD = "correct horse";

export type Session = { id: string; token: string; customer: string };

/** A new access token: the tests below move the clock by more than an hour. */
export const bearer = () => f.store.token("implicit");

/** Another sign-on of a person. */
export async function signIn(person: object = ADA): Promise<Session> {
  f.idp.person = { ...person };
  const { data } = (await f.redeem(await f.signOn(), {}, { token: await bearer() })).body;
  return { id: data.id, token: data.token, customer: data.customer_id };
}

export const BEA = { ...ADA, sub: "bea", email: "bea@shop.example", sid: "session-bea" };

/** A storefront's call with a customer's token. */
export const as = async ({ token }: Pick<Session, "token">, operation: Operation, request: Call = {}) =>
  call(f.latchkey.app, operation, {
    token: await bearer(),
    ...request,
    headers: { "x-customer-token": token, ...request.headers },
  });
export const list = (session: Session, request: Call = {}) =>
  as(session, listCustomerTokens, { ids: { customer: session.customer }, ...request });
export const outcome = ({ status, code }: Answer) => [status, code];
export const isAlive = async (session: Session) => (await list(session)).status === 200;
export const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);
export const withoutId = ({ body }: Answer) => body.errors.map((error: object) => ({ ...error, id: "" }));

/** Replaces the federation of the running test by one with other settings. */
export async function withOptions(options: Parameters<typeof createFederation>[0]): Promise<void> {
  await f.close();
  f = await createFederation(options);
}
