import { describe, expect, test } from "vitest";
import { approveDrift, deleteProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { until } from "../../support/until.ts";
import {
  adopt,
  adoptableOf,
  changeIssuer,
  f,
  ids,
  inherit,
  move,
  movedProvider,
  profile,
  signOnCustomer,
} from "./moved-provider.ts";

/** A profile that is moved to another issuer: its identities are carried over or left behind. */

movedProvider();

test("a second move › 409 identities_left_behind also after a move to a provider that could not be read", async () => {
  const customer = await signOnCustomer();
  const carried = { adopt_identities_of: f.profileId, confirm: "Hostile" };
  await move({ discovery_url: `${f.idp.origin}/gone`, enabled: false, ...carried });
  expect((await profile()).meta).toMatchObject({ issuer: null, former_issuers: [f.idp.origin] });
  changeIssuer();
  expect((await move({ enabled: true })).code).toBe("identities_left_behind");
  const left = await move({ enabled: true, adopt_identities_of: null });
  expect([left.status, left.body.data.meta.former_issuers]).toEqual([200, []]);
  expect(await signOnCustomer()).not.toBe(customer);
});

describe("a PUT that changes the issuer", () => {
  test("409 without a choice: the answer counts the identities, and nothing changes", async () => {
    await signOnCustomer();
    f.idp.person = { ...ADA, sub: "second" };
    await signOnCustomer();
    const before = await profile();
    changeIssuer();
    const answer = await move();
    expect([answer.status, answer.code]).toEqual([409, "identities_left_behind"]);
    expect(answer.body.errors[0].meta).toEqual({
      identities: 2,
      issuer: f.idp.origin,
      new_issuer: `${f.idp.origin}/`,
    });
    const another = { adopt_identities_of: f.realmId, confirm: "Hostile" };
    expect((await move(another)).code).toBe("identities_left_behind");
    expect(await profile()).toEqual(before);
  });

  test("identities adopted from a deleted profile are counted and carried over, even to another client", async () => {
    const customer = await signOnCustomer();
    await f.store.call(deleteProfile, { ids: ids() });
    const id = await f.addProfile({ name: "Heir", adopt_identities_of: f.profileId });
    changeIssuer();
    f.idp.clientId = "another";
    const moveHeir = (choice: object = {}) => {
      const place = { discovery_url: f.idp.issuer, client_id: "another", client_secret: "first secret" };
      const data = { type: "oidc-profile", ...place, ...choice };
      return f.store.call(updateProfile, { ids: { realm: f.realmId, id }, json: { data } });
    };
    const withoutChoice = await moveHeir();
    expect([withoutChoice.code, withoutChoice.body.errors[0].meta.identities]).toEqual([
      "identities_left_behind",
      1,
    ]);
    expect((await moveHeir({ adopt_identities_of: id, confirm: "Heir" })).status).toBe(200);
    const through = await f.redeem(await f.signOn({ parameters: { profile: id } }));
    expect(through.body.data.customer_id).toBe(customer);
  });

  test("200 back to the first issuer, under another client id: adopted identities come along", async () => {
    const { customer, heir, through } = await inherit();
    const moveHeir = (issuer: string, client_id: string) => {
      f.idp.issuer = issuer;
      f.idp.clientId = client_id;
      return heir({
        discovery_url: issuer,
        client_id,
        adopt_identities_of: through.profile,
        confirm: "Heir",
      });
    };
    expect((await moveHeir(`${f.idp.origin}/`, "another")).status).toBe(200);
    const back = await moveHeir(f.idp.origin, "another");
    expect([back.status, back.body.data.meta.former_issuers]).toEqual([200, [`${f.idp.origin}/`]]);
    expect(await signOnCustomer(through)).toBe(customer);
  });

  test("200 needs no choice when there are no identities", async () => {
    changeIssuer();
    expect((await move()).body.data.meta.issuer).toBe(`${f.idp.origin}/`);
  });

  test("200 carries identities over by subject once the profile's name confirms it; customers stay the same", async () => {
    const customer = await signOnCustomer();
    changeIssuer();
    expect((await move({ adopt_identities_of: f.profileId })).code).toBe("confirmation_wrong");
    expect((await move({ adopt_identities_of: f.profileId, confirm: "hostile" })).code).toBe(
      "confirmation_wrong",
    );
    const moved = await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    expect([moved.status, moved.body.data.meta.former_issuers]).toEqual([200, [f.idp.origin]]);
    expect(await signOnCustomer()).toBe(customer);
    f.idp.person = { ...ADA, sub: "a new subject" };
    expect(await signOnCustomer()).not.toBe(customer);
    f.idp.person = { ...ADA };
    f.idp.issuer = f.idp.origin;
    const withoutChoice = await move({ discovery_url: f.idp.origin });
    expect([withoutChoice.code, withoutChoice.body.errors[0].meta.identities]).toEqual([
      "identities_left_behind",
      2,
    ]);
    const back = { discovery_url: f.idp.origin, adopt_identities_of: f.profileId, confirm: "Hostile" };
    expect((await move(back)).body.data.meta.former_issuers).toEqual([`${f.idp.origin}/`]);
    expect(await signOnCustomer()).toBe(customer);
  });

  test("200 leaves identities behind when the choice is null; the people become new customers", async () => {
    const customer = await signOnCustomer();
    changeIssuer();
    const moved = await move({ adopt_identities_of: null });
    expect([moved.status, moved.body.data.meta.former_issuers]).toEqual([200, []]);
    expect(await signOnCustomer()).not.toBe(customer);
  });

  test("200 leaves identities behind that an earlier move carried over", async () => {
    await signOnCustomer();
    changeIssuer();
    await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    const elsewhere = { discovery_url: `${f.idp.origin}/other`, enabled: false };
    const moved = await move({ ...elsewhere, adopt_identities_of: null });
    expect([moved.status, moved.body.data.meta.former_issuers]).toEqual([200, []]);
  });

  test("an identity that was left behind is not adopted with the rest: another issuer's subject is another person (A04)", async () => {
    const left = await signOnCustomer();
    changeIssuer();
    await move({ adopt_identities_of: null });
    f.idp.person = { ...ADA, sub: "a new subject" };
    const kept = await signOnCustomer();
    await f.store.call(deleteProfile, { ids: ids() });
    const heir = await f.addProfile({ discovery_url: f.idp.issuer, adopt_identities_of: f.profileId });
    const through = async () =>
      (await f.redeem(await f.signOn({ parameters: { profile: heir } }))).body.data.customer_id;
    expect(await through()).toBe(kept);
    f.idp.person = { ...ADA };
    expect([left, kept]).not.toContain(await through());
  });

  test("an identity that was carried over is adopted with the deleted profile", async () => {
    const customer = await signOnCustomer();
    changeIssuer();
    await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    f.idp.person = { ...ADA, sub: "a new subject" };
    await signOnCustomer();
    await f.store.call(deleteProfile, { ids: ids() });
    const heir = await f.addProfile({ discovery_url: f.idp.issuer, adopt_identities_of: f.profileId });
    f.idp.person = { ...ADA };
    const through = await f.redeem(await f.signOn({ parameters: { profile: heir } }));
    expect(through.body.data.customer_id).toBe(customer);
  });

  test("an identity that was carried over is adopted even without a later sign-on", async () => {
    const customer = await signOnCustomer();
    changeIssuer();
    await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    await f.store.call(deleteProfile, { ids: ids() });
    const heir = await f.addProfile({ discovery_url: f.idp.issuer });
    expect(await adoptableOf(heir)).toEqual([{ profile_id: f.profileId, identities: 1 }]);
    expect((await adopt(heir)).body.data.meta.former_issuers).toEqual([f.idp.origin]);
    expect(await signOnCustomer({ profile: heir })).toBe(customer);
  });

  test("409 also for a disabled profile that cannot be read: its address gives the issuer", async () => {
    await signOnCustomer();
    const elsewhere = { discovery_url: `${f.idp.origin}/other`, enabled: false };
    expect((await move(elsewhere)).code).toBe("identities_left_behind");
    const carried = await move({ ...elsewhere, adopt_identities_of: f.profileId, confirm: "Hostile" });
    expect(carried.body.data.meta).toMatchObject({ issuer: null, former_issuers: [f.idp.origin] });
  });

  test("409 for the profile's own id when the issuer stays the same", async () => {
    await signOnCustomer();
    expect(
      (await move({ discovery_url: f.idp.origin, adopt_identities_of: f.profileId, confirm: "Hostile" }))
        .code,
    ).toBe("adoption_impossible");
  });

  test("identities are counted up to 10,000, and carried over without a write to them", async () => {
    const customer = await signOnCustomer();
    const { db } = f.latchkey.storage;
    const [one] = await db.selectFrom("customer_identities").selectAll().execute();
    for (let batch = 0; batch < 25; batch++) {
      const rows = Array.from({ length: 500 }, (_, n) => ({
        ...one,
        id: `i${batch}-${n}`,
        subject: `s${batch}-${n}`,
      }));
      await db
        .insertInto("customer_identities")
        .values(rows as never)
        .execute();
    }
    changeIssuer();
    expect((await move()).body.errors[0].meta.identities).toBe(10_000);
    await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    const { untouched } = await db
      .selectFrom("customer_identities")
      .select(({ fn }) => fn.countAll<number>().as("untouched"))
      .where("issuer", "=", f.idp.origin)
      .executeTakeFirstOrThrow();
    expect(untouched).toBe(12_501);
    expect(await signOnCustomer()).toBe(customer);
  });

  test("an approval of drift to another issuer needs the same choice", async () => {
    const customer = await signOnCustomer();
    changeIssuer();
    f.latchkey.clock.advance(5 * 60_000);
    await f.begin({ cookie: undefined });
    await until(async () => (await profile()).meta.pending_change !== null);
    const { digest } = (await profile()).meta.pending_change;
    const approve = (data: object) =>
      f.store.call(approveDrift, { ids: ids(), json: { data: { digest, ...data } } });
    expect((await approve({})).code).toBe("identities_left_behind");
    expect((await approve({ adopt_identities_of: f.profileId, confirm: "no" })).code).toBe(
      "confirmation_wrong",
    );
    const approved = await approve({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    expect(approved.body.data.meta).toMatchObject({ issuer: f.idp.issuer, former_issuers: [f.idp.origin] });
    expect(await signOnCustomer()).toBe(customer);
  });
});
