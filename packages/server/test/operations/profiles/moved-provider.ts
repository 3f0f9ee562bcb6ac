import { afterEach, beforeEach } from "vitest";
import { deleteProfile, getProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";

/** A provider that changes its issuer, and profiles that adopt identities. */

export let f: Federation;

export function movedProvider(): void {
  beforeEach(async () => {
    f = await createFederation();
    f.idp.person = { ...ADA };
  });
  afterEach(() => f.close());
}

export const ids = () => ({ realm: f.realmId, id: f.profileId });
export const signOnCustomer = async (parameters = {}) => {
  f.latchkey.clock.advance(1000);
  return (await f.redeem(await f.signOn({ parameters }))).body.data.customer_id as string;
};
export const profile = async () => (await f.store.call(getProfile, { ids: ids() })).body.data;

/** Gives the provider another issuer: the same with a trailing slash. */
export const changeIssuer = () => {
  f.idp.issuer = `${f.idp.origin}/`;
};
export const move = (data: object = {}) =>
  f.store.call(updateProfile, {
    ids: ids(),
    json: {
      data: {
        type: "oidc-profile",
        discovery_url: `${f.idp.origin}/`,
        client_secret: "first secret",
        ...data,
      },
    },
  });

/** A profile that has adopted a customer's identity from a deleted profile. */
export async function inherit() {
  const customer = await signOnCustomer();
  await f.store.call(deleteProfile, { ids: ids() });
  const profile = await f.addProfile({ name: "Heir", adopt_identities_of: f.profileId });
  const heir = (change: object) => {
    const data = { type: "oidc-profile", client_secret: "first secret", ...change };
    return f.store.call(updateProfile, { ids: { realm: f.realmId, id: profile }, json: { data } });
  };
  return { customer, heir, through: { profile } };
}

export const adoptableOf = async (id: string) =>
  (await f.store.call(getProfile, { ids: { realm: f.realmId, id } })).body.data.meta.adoptable;
export const adopt = (id: string, of = f.profileId) =>
  f.store.call(updateProfile, {
    ids: { realm: f.realmId, id },
    json: { data: { type: "oidc-profile", adopt_identities_of: of } },
  });
