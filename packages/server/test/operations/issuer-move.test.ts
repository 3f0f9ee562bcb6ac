import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCustomer, getCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { listEvents } from "../../src/contract/events.ts";
import {
  approveDrift,
  checkProfile,
  deleteProfile,
  getProfile,
  updateProfile,
} from "../../src/contract/oidc-profiles.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";
import { until } from "../support/until.ts";

/** A provider is called something else from now on; a person is. */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
  f.idp.person = { ...ADA };
});
afterEach(() => f.close());

const ids = () => ({ realm: f.realmId, id: f.profileId });
const signedOn = async (parameters = {}) => {
  f.latchkey.clock.advance(1000);
  return (await f.redeem(await f.signOn({ parameters }))).body.data.customer_id as string;
};
const profile = async () => (await f.store.call(getProfile, { ids: ids() })).body.data;

/** The same provider under another name: its issuer has a slash at the end. */
const rename = () => {
  f.idp.issuer = `${f.idp.origin}/`;
};
const move = (data: object = {}) =>
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

/** A profile that has taken over somebody from a deleted one. */
async function inherit() {
  const customer = await signedOn();
  await f.store.call(deleteProfile, { ids: ids() });
  const profile = await f.addProfile({ name: "Heir", adopt_identities_of: f.profileId });
  const heir = (change: object) => {
    const data = { type: "oidc-profile", client_secret: "first secret", ...change };
    return f.store.call(updateProfile, { ids: { realm: f.realmId, id: profile }, json: { data } });
  };
  return { customer, heir, through: { profile } };
}

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

const adoptableOf = async (id: string) =>
  (await f.store.call(getProfile, { ids: { realm: f.realmId, id } })).body.data.meta.adoptable;
const adopt = (id: string, of = f.profileId) =>
  f.store.call(updateProfile, {
    ids: { realm: f.realmId, id },
    json: { data: { type: "oidc-profile", adopt_identities_of: of } },
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

describe("name and e-mail follow the provider", () => {
  const customerOf = async (id: string) => (await f.store.call(getCustomer, { ids: { id } })).body.data;
  const newCustomer = async (data: object) =>
    (await f.store.call(createCustomer, { json: { data: { type: "customer", name: "Other", ...data } } }))
      .body.data.id as string;

  test("at each sign-on, and an event says what was changed", async () => {
    const id = await signedOn();
    f.idp.person = { ...ADA, name: "Ada King", email: "ada.king@shop.example" };
    expect(await signedOn()).toBe(id);
    expect(await customerOf(id)).toMatchObject({
      name: "Ada King",
      email: "ada.king@shop.example",
      email_verified: true,
    });
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: "types=customer.updated" });
    expect(body.data).toHaveLength(1);
    expect(body.data[0].data.changes).toEqual({
      name: { before: "Ada Lovelace", after: "Ada King" },
      email: { before: "ada@shop.example", after: "ada.king@shop.example" },
    });
    await signedOn();
    await f.latchkey.app.tidy();
    expect((await f.store.call(listEvents, { query: "types=customer.updated" })).body.data).toHaveLength(1);
  });

  test("and an address that stands in for a name goes with the new one, until there is a name", async () => {
    f.idp.person = { ...ADA, name: undefined };
    const id = await signedOn();
    expect((await customerOf(id)).name).toBe("ada@shop.example");
    f.idp.person.email = "ada.king@shop.example";
    await signedOn();
    expect((await customerOf(id)).name).toBe("ada.king@shop.example");
    f.idp.person = { ...ADA, name: "Ada King" };
    await signedOn();
    expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: "ada@shop.example" });
    f.idp.person = { ...ADA, name: undefined, email: "ada.king@shop.example" };
    await signedOn();
    expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: "ada.king@shop.example" });
  });

  test("at the first alone where the realm says so", async () => {
    await f.changeRealm({ profile_updates: "first" });
    const id = await signedOn();
    f.idp.person = { ...ADA, name: "Ada King", email: "ada.king@shop.example" };
    expect(await signedOn()).toBe(id);
    expect(await customerOf(id)).toMatchObject({ name: "Ada Lovelace", email: "ada@shop.example" });
  });

  test("but no address that nobody has proven takes the place of one that was; a proof of the same one is noted, and stays", async () => {
    const id = await signedOn();
    f.idp.person = { ...ADA, email: "eve@evil.example", email_verified: false };
    await signedOn();
    expect(await customerOf(id)).toMatchObject({ email: "ada@shop.example", email_verified: true });
    f.idp.person = { ...ADA, email_verified: false };
    await signedOn();
    expect(await customerOf(id)).toMatchObject({ email: "ada@shop.example", email_verified: true });
    f.idp.person = { ...ADA, sub: "unproven", email: "u@shop.example", email_verified: false };
    const other = await signedOn();
    f.idp.person.email_verified = true;
    await signedOn();
    expect(await customerOf(other)).toMatchObject({ email: "u@shop.example", email_verified: true });
  });

  test.each([
    ["allowed", "taken@shop.example"],
    ["api_only", "ada@shop.example"],
    ["disallowed", "ada@shop.example"],
  ])(
    "under %s, an address that is another customer's proven one leaves %s; the sign-on works",
    async (policy, left) => {
      const id = await signedOn();
      await newCustomer({ email: "taken@shop.example", password: "a long password", email_verified: true });
      await f.changeRealm({ duplicate_email_policy: policy });
      f.idp.person = { ...ADA, name: "Ada King", email: "taken@shop.example" };
      expect(await signedOn()).toBe(id);
      expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: left });
    },
  );

  test("an address that is proven in another store alone, or here by nobody, is free to be taken on (A03, A33)", async () => {
    const id = await signedOn();
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const data = { type: "customer", name: "Other", email: "theirs@shop.example", email_verified: true };
    await (await f.latchkey.createStore()).call(createCustomer, { json: { data } });
    await newCustomer({ email: "unproven@shop.example", password: "a long password" });
    for (const email of ["theirs@shop.example", "unproven@shop.example"]) {
      f.idp.person = { ...ADA, email };
      expect(await signedOn()).toBe(id);
      expect((await customerOf(id)).email).toBe(email);
    }
  });

  test("two who sign in with a password never come to share an address", async () => {
    const id = await signedOn();
    const password = { type: "customer", password: "a long password" };
    await f.store.call(updateCustomer, { ids: { id }, json: { data: password } });
    await newCustomer({ email: "taken@shop.example", password: "another password" });
    f.idp.person = { ...ADA, email: "taken@shop.example" };
    expect(await signedOn()).toBe(id);
    expect((await customerOf(id)).email).toBe("ada@shop.example");
  });
});

test("R8 is met when a direct sign-on came without a nonce, and not when it came with one", async () => {
  const data = {
    type: "oidc-profile",
    flow: "direct",
    client_id: "customers",
    client_secret: "first secret",
  };
  await f.store.call(updateProfile, { ids: ids(), json: { data } });
  f.idp.clientId = "customers";
  const redeem = async (nonce: Record<string, string>) => {
    f.latchkey.clock.advance(1000);
    const { newPkce, SHOP } = await import("../support/federation.ts");
    const pkce = newPkce();
    const asked = new URLSearchParams({
      client_id: "customers",
      redirect_uri: SHOP,
      state: "s",
      code_challenge: pkce.challenge,
      ...nonce,
    });
    const back = f.idp.signIn(`${f.idp.origin}/authorize?${asked}`);
    const code = new URL(back).searchParams.get("code") ?? "";
    const answer = await f.redeem({ code, pkce });
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(checkProfile, { ids: ids() });
    return [answer.status, body.data.checks[7].status];
  };
  expect(await redeem({ nonce: "the storefront's" })).toEqual([200, "unknown"]);
  expect(await redeem({})).toEqual([200, "met"]);
});
