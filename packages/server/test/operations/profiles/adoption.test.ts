import { describe, expect, test } from "vitest";
import { deleteProfile, getProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { ADA } from "../../support/hostile-idp.ts";
import {
  adopt,
  adoptableOf,
  f,
  ids,
  inherit,
  move,
  movedProvider,
  rename,
  signedOn,
} from "./moved-provider.ts";

/** A profile that adopts the identities of a deleted one, and a change of the client id. */

movedProvider();

describe("a PUT that changes the client id alone", () => {
  test("200 leaves everybody who they are: those of the profile, and those that it has taken over from a deleted one", async () => {
    const { customer, heir, through } = await inherit();
    f.idp.person = { ...ADA, sub: "its own" };
    const own = await signedOn(through);
    f.idp.clientId = "another";
    const changed = await heir({ client_id: "another" });
    expect([changed.status, changed.body.data.meta.former_issuers]).toEqual([200, []]);
    expect(await signedOn(through)).toBe(own);
    f.idp.person = { ...ADA };
    expect(await signedOn(through)).toBe(customer);
  });

  test("409 for another profile that would take over the same people", async () => {
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

test("who was somebody else in each of two adopted profiles is whom they were last, whichever was adopted first", async () => {
  const made = [];
  for (const name of ["First", "Second"]) {
    const id = await f.addProfile({ name });
    made.push({ id, customer: await signedOn({ profile: id }) });
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id } });
  }
  const last = made.at(-1)?.customer;
  for (const order of [made, made.toReversed()]) {
    const heir = await f.addProfile({ name: "Heir" });
    for (const { id } of order) expect((await adopt(heir, id)).status).toBe(200);
    expect(await signedOn({ profile: heir })).toBe(last);
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: heir } });
  }
});

test("a PUT that points a profile without people at another issuer adopts those of a deleted profile of that issuer", async () => {
  const customer = await signedOn();
  await f.store.call(deleteProfile, { ids: ids() });
  rename();
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
  expect(await signedOn({ profile: heir })).toBe(customer);
});

describe("a profile that had another client id before it was deleted", () => {
  const changeClient = async () => {
    f.idp.clientId = "another";
    await move({ discovery_url: f.idp.discoveryUrl, client_id: "another" });
    await f.store.call(deleteProfile, { ids: ids() });
  };

  test("is adopted with those who signed on before that, by one with the client id of then or of the end", async () => {
    const customer = await signedOn();
    await changeClient();
    for (const client_id of ["another", "the-store"]) {
      f.idp.clientId = client_id;
      const heir = await f.addProfile({ client_id });
      expect(await adoptableOf(heir)).toEqual([{ profile_id: f.profileId, identities: 1 }]);
      expect((await adopt(heir)).status).toBe(200);
      expect(await signedOn({ profile: heir })).toBe(customer);
      await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: heir } });
    }
  });

  test("brings along whom it had taken over", async () => {
    const { customer, heir, through } = await inherit();
    f.idp.clientId = "another";
    await heir({ client_id: "another" });
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: through.profile } });
    const next = await f.addProfile({ client_id: "another" });
    expect(await adoptableOf(next)).toEqual([{ profile_id: through.profile, identities: 1 }]);
    expect((await adopt(next, through.profile)).status).toBe(200);
    expect(await signedOn({ profile: next })).toBe(customer);
  });

  test("409 for one with a client id that it never had: another client's subjects are other people", async () => {
    await signedOn();
    await changeClient();
    const stranger = await f.addProfile({ client_id: "a third" });
    expect(await adoptableOf(stranger)).toEqual([]);
    expect((await adopt(stranger)).code).toBe("adoption_impossible");
  });
});
