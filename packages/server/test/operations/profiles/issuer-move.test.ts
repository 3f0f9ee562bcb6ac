import { describe, expect, test } from "vitest";
import { approveDrift, deleteProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { until } from "../../support/until.ts";
import {
  adopt,
  adoptableOf,
  f,
  ids,
  inherit,
  move,
  movedProvider,
  profile,
  rename,
  signedOn,
} from "./moved-provider.ts";

/** A profile that is moved to another issuer: its identities are carried over or left behind. */

movedProvider();

test("409 identities_left_behind also for a second move, where the first one led to a provider that could not be read", async () => {
  const customer = await signedOn();
  const carried = { adopt_identities_of: f.profileId, confirm: "Hostile" };
  await move({ discovery_url: `${f.idp.origin}/gone`, enabled: false, ...carried });
  expect((await profile()).meta).toMatchObject({ issuer: null, former_issuers: [f.idp.origin] });
  rename();
  expect((await move({ enabled: true })).code).toBe("identities_left_behind");
  const left = await move({ enabled: true, adopt_identities_of: null });
  expect([left.status, left.body.data.meta.former_issuers]).toEqual([200, []]);
  expect(await signedOn()).not.toBe(customer);
});

describe("a PUT that changes the issuer", () => {
  test("409 without a choice: it says how many would be left behind, and nothing is changed", async () => {
    await signedOn();
    f.idp.person = { ...ADA, sub: "second" };
    await signedOn();
    const before = await profile();
    rename();
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

  test("those that the profile has taken over from a deleted one count as well, and are carried over to another client, too", async () => {
    const customer = await signedOn();
    await f.store.call(deleteProfile, { ids: ids() });
    const id = await f.addProfile({ name: "Heir", adopt_identities_of: f.profileId });
    rename();
    f.idp.clientId = "another";
    const moveHeir = (choice: object = {}) => {
      const place = { discovery_url: f.idp.issuer, client_id: "another", client_secret: "first secret" };
      const data = { type: "oidc-profile", ...place, ...choice };
      return f.store.call(updateProfile, { ids: { realm: f.realmId, id }, json: { data } });
    };
    const unsaid = await moveHeir();
    expect([unsaid.code, unsaid.body.errors[0].meta.identities]).toEqual(["identities_left_behind", 1]);
    expect((await moveHeir({ adopt_identities_of: id, confirm: "Heir" })).status).toBe(200);
    const through = await f.redeem(await f.signOn({ parameters: { profile: id } }));
    expect(through.body.data.customer_id).toBe(customer);
  });

  test("200 back to the first issuer, under another client by then: those that were taken over from a deleted profile are carried back", async () => {
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
    expect(await signedOn(through)).toBe(customer);
  });

  test("200 needs no choice where nobody has signed on yet", async () => {
    rename();
    expect((await move()).body.data.meta.issuer).toBe(`${f.idp.origin}/`);
  });

  test("200 carries people over, by subject, when that is confirmed by name: one row is written, and who they are stays", async () => {
    const customer = await signedOn();
    rename();
    expect((await move({ adopt_identities_of: f.profileId })).code).toBe("confirmation_wrong");
    expect((await move({ adopt_identities_of: f.profileId, confirm: "hostile" })).code).toBe(
      "confirmation_wrong",
    );
    const moved = await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    expect([moved.status, moved.body.data.meta.former_issuers]).toEqual([200, [f.idp.origin]]);
    expect(await signedOn()).toBe(customer);
    f.idp.person = { ...ADA, sub: "somebody new" };
    expect(await signedOn()).not.toBe(customer);
    f.idp.person = { ...ADA };
    f.idp.issuer = f.idp.origin;
    const unsaid = await move({ discovery_url: f.idp.origin });
    expect([unsaid.code, unsaid.body.errors[0].meta.identities]).toEqual(["identities_left_behind", 2]);
    const back = { discovery_url: f.idp.origin, adopt_identities_of: f.profileId, confirm: "Hostile" };
    expect((await move(back)).body.data.meta.former_issuers).toEqual([`${f.idp.origin}/`]);
    expect(await signedOn()).toBe(customer);
  });

  test("200 leaves them behind when that is said, and they become new customers", async () => {
    const customer = await signedOn();
    rename();
    const moved = await move({ adopt_identities_of: null });
    expect([moved.status, moved.body.data.meta.former_issuers]).toEqual([200, []]);
    expect(await signedOn()).not.toBe(customer);
  });

  test("200 leaves behind also those that were carried over before", async () => {
    await signedOn();
    rename();
    await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    const elsewhere = { discovery_url: `${f.idp.origin}/other`, enabled: false };
    const moved = await move({ ...elsewhere, adopt_identities_of: null });
    expect([moved.status, moved.body.data.meta.former_issuers]).toEqual([200, []]);
  });

  test("whoever was left behind stays so when another profile adopts the rest: the same subject of another issuer is somebody else (A04)", async () => {
    const left = await signedOn();
    rename();
    await move({ adopt_identities_of: null });
    f.idp.person = { ...ADA, sub: "somebody new" };
    const kept = await signedOn();
    await f.store.call(deleteProfile, { ids: ids() });
    const heir = await f.addProfile({ discovery_url: f.idp.issuer, adopt_identities_of: f.profileId });
    const through = async () =>
      (await f.redeem(await f.signOn({ parameters: { profile: heir } }))).body.data.customer_id;
    expect(await through()).toBe(kept);
    f.idp.person = { ...ADA };
    expect([left, kept]).not.toContain(await through());
  });

  test("whoever was carried over comes along when the profile is deleted and its heir adopts them", async () => {
    const customer = await signedOn();
    rename();
    await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    f.idp.person = { ...ADA, sub: "somebody new" };
    await signedOn();
    await f.store.call(deleteProfile, { ids: ids() });
    const heir = await f.addProfile({ discovery_url: f.idp.issuer, adopt_identities_of: f.profileId });
    f.idp.person = { ...ADA };
    const through = await f.redeem(await f.signOn({ parameters: { profile: heir } }));
    expect(through.body.data.customer_id).toBe(customer);
  });

  test("so does everybody when nobody new has signed on since", async () => {
    const customer = await signedOn();
    rename();
    await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    await f.store.call(deleteProfile, { ids: ids() });
    const heir = await f.addProfile({ discovery_url: f.idp.issuer });
    expect(await adoptableOf(heir)).toEqual([{ profile_id: f.profileId, identities: 1 }]);
    expect((await adopt(heir)).body.data.meta.former_issuers).toEqual([f.idp.origin]);
    expect(await signedOn({ profile: heir })).toBe(customer);
  });

  test("409 also for one that is switched off and cannot be read, whose issuer its address tells", async () => {
    await signedOn();
    const elsewhere = { discovery_url: `${f.idp.origin}/other`, enabled: false };
    expect((await move(elsewhere)).code).toBe("identities_left_behind");
    const carried = await move({ ...elsewhere, adopt_identities_of: f.profileId, confirm: "Hostile" });
    expect(carried.body.data.meta).toMatchObject({ issuer: null, former_issuers: [f.idp.origin] });
  });

  test("409 for its own id where the issuer stays the same: nothing is left behind", async () => {
    await signedOn();
    expect(
      (await move({ discovery_url: f.idp.origin, adopt_identities_of: f.profileId, confirm: "Hostile" }))
        .code,
    ).toBe("adoption_impossible");
  });

  test("many identities are counted up to ten thousand, and carried over without being touched", async () => {
    const customer = await signedOn();
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
    rename();
    expect((await move()).body.errors[0].meta.identities).toBe(10_000);
    await move({ adopt_identities_of: f.profileId, confirm: "Hostile" });
    const { untouched } = await db
      .selectFrom("customer_identities")
      .select(({ fn }) => fn.countAll<number>().as("untouched"))
      .where("issuer", "=", f.idp.origin)
      .executeTakeFirstOrThrow();
    expect(untouched).toBe(12_501);
    expect(await signedOn()).toBe(customer);
  });

  test("approving drift to another issuer asks for the same choice", async () => {
    const customer = await signedOn();
    rename();
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
    expect(await signedOn()).toBe(customer);
  });
});
