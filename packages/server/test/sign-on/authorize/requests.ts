import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { authorize } from "../../../src/contract/sign-on.ts";
import { type SignOnReason, signOnReasonEntry } from "../../../src/contract/sign-on-reasons.ts";
import { type Answer, type Call, call } from "../../support/call.ts";
import { type Browser, createFederation, type Federation, SHOP } from "../../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../../support/hostile-idp.ts";

/** Authorization requests of a storefront, and the answers to them. */

export let idp: HostileIdp;
let shared: Federation;
export let f: Federation;

export function authorizeRequests(): void {
  beforeAll(async () => {
    idp = await startHostileIdp();
    shared = await createFederation({ idp });
  });
  afterAll(async () => {
    await shared.close();
    await idp.close();
  });
  beforeEach(() => {
    f = shared;
    // So that the many requests of this file come from a source that has not asked for a while.
    f.latchkey.clock.advance(10_000);
    idp.now = f.latchkey.clock.now;
    idp.hooks = {};
    idp.person = { ...ADA };
    idp.journal.length = 0;
  });
}

/** For tests that change something, or count: a federation of their own. */
export function eachAlone(): void {
  beforeEach(async () => {
    f = await createFederation({ idp });
    idp.journal.length = 0;
  });
  afterEach(() => f.close());
}

export const nobody = (): Browser => ({ cookie: undefined });
export const idsOfRealm = () => ({ store: f.store.store.id, realm: f.realmId });
export const queryOf = (changes: Record<string, string | undefined> = {}) =>
  new URLSearchParams(f.parameters(changes)).toString();
/** Sends a query as it is written. */
export const ask = (query: string, request: Call = {}) =>
  call(f.latchkey.app, authorize, { ids: idsOfRealm(), query, ...request });

export const locationOf = (answer: Answer) => answer.headers.get("location") ?? "";
/** Where a redirect leads, and what it says. */
export function told(answer: Answer): Record<string, string> {
  const location = locationOf(answer);
  const end = location.indexOf("?");
  return {
    target: location.slice(0, end),
    ...Object.fromEntries(new URLSearchParams(location.slice(end + 1))),
  };
}
export const REFERENCE = /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/;
/** All that a storefront is told of a refusal, and nothing beside it: no code above all. */
export const refusalFor = (reason: SignOnReason, changes: Record<string, unknown> = {}) => ({
  target: SHOP,
  error: signOnReasonEntry(reason).error,
  error_description: signOnReasonEntry(reason).means,
  reason,
  reference: expect.stringMatching(REFERENCE),
  state: "the storefront's state",
  iss: f.issuer,
  ...changes,
});
export const referenceOnPage = (answer: Answer): string =>
  /<strong>([^<]+)<\/strong>/.exec(answer.body)?.[1] ?? "";

export const SENT_TO_IDP = [
  "scope",
  "response_type",
  "client_id",
  "redirect_uri",
  "state",
  "nonce",
  "code_challenge_method",
  "code_challenge",
];
export const atIdp = (answer: Answer) => new URL(locationOf(answer)).searchParams;
export const isAtIdp = (answer: Answer) => locationOf(answer).startsWith(`${idp.origin}/authorize?`);

export async function countRows(): Promise<Record<string, number>> {
  const { db } = f.latchkey.storage;
  const counts: Record<string, number> = {};
  for (const { name } of await db.introspection.getTables()) {
    const rows = await db
      .selectFrom(name as "stores")
      .select(({ fn }) => fn.countAll().as("count"))
      .executeTakeFirst();
    counts[name] = Number(rows?.count);
  }
  return counts;
}
