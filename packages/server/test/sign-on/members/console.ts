import { afterAll, beforeAll, beforeEach } from "vitest";
import { listCustomers } from "../../../src/contract/customers.ts";
import { getMember } from "../../../src/contract/members.ts";
import { createProfile } from "../../../src/contract/oidc-profiles.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { createMembersSide, type MembersSide } from "../../support/members.ts";

/** A store with a realm for members at the same provider, and the console that signs them in. */

export let f: Federation;
export let side: MembersSide;

export function membersAtTheConsole(): void {
  beforeAll(async () => {
    f = await createFederation();
    side = await createMembersSide(f);
  });
  beforeEach(() => {
    f.latchkey.clock.advance(2000);
    f.idp.person = { ...ADA };
  });
  afterAll(() => f.close());
}

export let people = 0;
/** An e-mail that no test has used before. */
export const newEmail = () => `person-${++people}@shop.example`;

export const statusOf = async (id: string) =>
  (await f.store.call(getMember, { ids: { id } })).body.data.meta.status;
export const reasonOf = async (reference: string) => (await f.recordOf(reference)).reason;
export const customers = async () => (await f.store.call(listCustomers)).body.meta.results.total;

/** Adds a second profile of the same provider to the members' realm. */
export const addProfile = async () => {
  const data = {
    type: "oidc-profile",
    name: "Second",
    discovery_url: f.idp.discoveryUrl,
    client_id: f.idp.clientId,
    client_secret: f.idp.clientSecrets[0],
  };
  return (await f.store.call(createProfile, { ids: { realm: side.realmId }, json: { data } })).body.data.id;
};
