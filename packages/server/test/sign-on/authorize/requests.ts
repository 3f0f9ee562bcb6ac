import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { authorize } from "../../../src/contract/sign-on.ts";
import { type SignOnReason, signOnReasonEntry } from "../../../src/contract/sign-on-reasons.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { type Answer, type Call, call } from "../../support/call.ts";
import { createFederation, type Federation, SHOP } from "../../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../../support/hostile-idp.ts";
import { locationOf, REFERENCE } from "../../support/redirects.ts";

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
    // Later than the requests of the test before: the limit of requests by source starts anew.
    f.latchkey.clock.advance(10_000);
    idp.now = f.latchkey.clock.now;
    idp.hooks = {};
    idp.person = { ...ADA };
    idp.journal.length = 0;
  });
}

/** A federation of its own for each test of a describe: for tests that change settings or count rows. */
export function withOwnFederation(): void {
  beforeEach(async () => {
    f = await createFederation({ idp });
    idp.journal.length = 0;
  });
  afterEach(() => f.close());
}

export const idsOfRealm = () => ({ store: f.store.store.id, realm: f.realmId });
export const queryOf = (changes: Record<string, string | undefined> = {}) =>
  new URLSearchParams(f.parameters(changes)).toString();
/** Sends the query as written. */
export const ask = (query: string, request: Call = {}) =>
  call(f.latchkey.app, authorize, { ids: idsOfRealm(), query, ...request });

/** All parameters of a refusal in the redirect to the storefront; in particular, no code. */
export const refusalFor = (reason: SignOnReason, changes: Record<string, unknown> = {}) => ({
  target: SHOP,
  error: signOnReasonEntry(reason).error,
  error_description: signOnReasonEntry(reason).means,
  error_uri: `${PUBLIC_URL}/errors/${reason}`,
  reason,
  reference: expect.stringMatching(REFERENCE),
  state: "the storefront's state",
  iss: f.issuer,
  ...changes,
});

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
