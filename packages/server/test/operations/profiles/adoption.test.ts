import { describe, expect, test } from "vitest";
import { deleteProfile, getProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { ADA } from "../../support/hostile-idp.ts";
import {
  adopt,
  adoptableOf,
  changeIssuer,
  f,
  ids,
  inherit,
  move,
  movedProvider,
  signOnCustomer,
} from "./moved-provider.ts";

/** A profile that adopts the identities of a deleted one, and a change of the client id. */

movedProvider();

describe("a PUT that changes the client id alone", () => {
  test("200 keeps customers, also those adopted from a deleted profile", async () => {
    const { customer, heir, through } = await inherit();
    f.idp.person = { ...ADA, sub: "its own" };
    const own = await signOnCustomer(through);
    f.idp.clientId = "another";
    const changed = await heir({ client_id: "another" });
    expect([changed.status, changed.body.data.meta.former_issuers]).toEqual([200, []]);
    expect(await signOnCustomer(through)).toBe(own);
    f.idp.person = { ...ADA };
    expect(await signOnCustomer(through)).toBe(customer);
  });

  test("409 for another profile that would adopt the same identities", async () => {
    const { heir } = await inherit();
    await heir({ client_id: "another" });
    const rival = await f.addProfile({ name: "Rival" });
    const shown = await f.store.call(getProfile, { ids: { realm: f.realmId, id: rival } });
    expect(shown.body.data.meta.adoptable).toEqual([]);
    const adopting = { data: { type: "oidc-profile", adopt_identities_of: f.profileId } };
    const refused = await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: rival },
      json: adopting,
    });
    expect([refused.status, refused.code]).toEqual([409, "adoption_impossible"]);
  });
});

test("two adopted profiles with the same subject › the later customer wins, in either order of adoption", async () => {
  const made = [];
  for (const name of ["First", "Second"]) {
    const id = await f.addProfile({ name });
    made.push({ id, customer: await signOnCustomer({ profile: id }) });
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id } });
  }
  const last = made.at(-1)?.customer;
  for (const order of [made, made.toReversed()]) {
    const heir = await f.addProfile({ name: "Heir" });
    for (const { id } of order) expect((await adopt(heir, id)).status).toBe(200);
    expect(await signOnCustomer({ profile: heir })).toBe(last);
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: heir } });
  }
});

test("a PUT to another issuer by a profile without identities › adopts those of a deleted profile of that issuer", async () => {
  const customer = await signOnCustomer();
  await f.store.call(deleteProfile, { ids: ids() });
  changeIssuer();
  const heir = await f.addProfile({ discovery_url: f.idp.issuer });
  f.idp.issuer = f.idp.origin;
  const data = { type: "oidc-profile", discovery_url: f.idp.origin, client_secret: "first secret" };
  const pointed = (adopt_identities_of: string) =>
    f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: heir },
      json: { data: { ...data, adopt_identities_of } },
    });
  expect((await pointed(f.realmId)).code).toBe("adoption_impossible");
  const { status, body } = await pointed(f.profileId);
  expect([status, body.data.meta.adoptable]).toEqual([200, []]);
  expect(await signOnCustomer({ profile: heir })).toBe(customer);
});

describe("a deleted profile whose client id was changed", () => {
  const changeClient = async () => {
    f.idp.clientId = "another";
    await move({ discovery_url: f.idp.discoveryUrl, client_id: "another" });
    await f.store.call(deleteProfile, { ids: ids() });
  };

  test("is adopted with all identities by a profile with the old or the new client id", async () => {
    const customer = await signOnCustomer();
    await changeClient();
    for (const client_id of ["another", "the-store"]) {
      f.idp.clientId = client_id;
      const heir = await f.addProfile({ client_id });
      expect(await adoptableOf(heir)).toEqual([{ profile_id: f.profileId, identities: 1 }]);
      expect((await adopt(heir)).status).toBe(200);
      expect(await signOnCustomer({ profile: heir })).toBe(customer);
      await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: heir } });
    }
  });

  test("is adopted together with the identities that it had adopted", async () => {
    const { customer, heir, through } = await inherit();
    f.idp.clientId = "another";
    await heir({ client_id: "another" });
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: through.profile } });
    const next = await f.addProfile({ client_id: "another" });
    expect(await adoptableOf(next)).toEqual([{ profile_id: through.profile, identities: 1 }]);
    expect((await adopt(next, through.profile)).status).toBe(200);
    expect(await signOnCustomer({ profile: next })).toBe(customer);
  });

  test("409 for a profile with a third client id: another client's subjects are other people", async () => {
    await signOnCustomer();
    await changeClient();
    const stranger = await f.addProfile({ client_id: "a third" });
    expect(await adoptableOf(stranger)).toEqual([]);
    expect((await adopt(stranger)).code).toBe("adoption_impossible");
  });
});
