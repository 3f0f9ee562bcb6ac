import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApplicationKey, deleteApplicationKey } from "../../src/contract/application-keys.ts";
import { deleteProfile, testSignOn } from "../../src/contract/oidc-profiles.ts";
import { realmToken } from "../../src/contract/sign-on.ts";
import { getSignOnStatistics } from "../../src/contract/sign-ons.ts";
import { createTestApp, getToken, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation, SHOP } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { createMembersSide, type MembersSide } from "../support/members.ts";

/** Statistics of shoppers and of members, by provider and by application key, with `started` (wire 27). */

type Entry = { profile_id?: string | null; key_id?: string | null; outcomes: Record<string, number> };

describe.each(engines)("statistics of sign-ons on $name", (engine) => {
  let database: TestDatabase;
  let idp: HostileIdp;
  let f: Federation;
  let second: TestApp;
  let members: MembersSide;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    idp = await startHostileIdp();
    f = await createFederation({ databaseUrl: database.url, idp });
    const { storage, clock } = f.latchkey;
    const shared = engine.name === "sqlite" ? { storage } : { databaseUrl: database.url };
    second = await createTestApp({ ...shared, clock, allowedOrigins: [idp.origin] });
    members = await createMembersSide(f);
  });
  afterEach(async () => {
    for (const storage of new Set([f?.latchkey.storage, second?.storage])) await storage?.close();
    await idp?.close();
    await database?.drop();
  });

  const tidy = async () => {
    for (const { app } of [f.latchkey, second]) await app.tidy();
    await f.latchkey.app.tidy();
  };
  const read = async (query = ""): Promise<Entry[]> =>
    (await f.store.call(getSignOnStatistics, { query, token: await f.store.token() })).body.data;
  const tidied = async (query = "") => {
    await tidy();
    return read(query);
  };
  /** A minute later the counts of redirects are written, too. */
  const aMinuteLater = async (query = "") => {
    f.latchkey.clock.advance(61_000);
    await tidy();
    return read(query);
  };
  const newKey = async (data = {}) => {
    const json = { data: { type: "application_key", name: "Till", ...data } };
    const { body } = await f.store.call(createApplicationKey, { json });
    const { id, client_id: clientId, client_secret: clientSecret } = body.data;
    const made = { ...f.store, key: { ...f.store.key, id, clientId, clientSecret } };
    return { id, clientId, clientSecret, token: await getToken(f.latchkey.app, made, "implicit") };
  };
  const redeemAtRealm = (code: string, form: Record<string, string>) =>
    call(f.latchkey.app, realmToken, {
      ids: { store: f.store.store.id, realm: f.realmId },
      form: { grant_type: "authorization_code", code, redirect_uri: SHOP, ...form },
    });

  describe("started", () => {
    test("counts each redirect to a provider once a minute, also of those who come back", async () => {
      await f.redeem(await f.signOn());
      await f.begin({ cookie: undefined });
      expect(await tidied()).toMatchObject([{ outcomes: { exchanged: 1 } }]);
      const [entry] = await aMinuteLater();
      expect(entry).toMatchObject({ profile_id: f.profileId, outcomes: { exchanged: 1, started: 2 } });
    });

    test("belongs to the minute in which the sign-on began, and is added up over all instances", async () => {
      await f.begin({ cookie: undefined });
      const other = { ...f, latchkey: second };
      f.latchkey.clock.advance(50_000);
      const query = new URLSearchParams(f.parameters()).toString();
      const path = `https://keys.example/sign-on/stores/${f.store.store.id}/realms/${f.realmId}/authorize`;
      await other.latchkey.app.fetch(new Request(`${path}?${query}`));
      expect((await aMinuteLater("step=minute")).map(({ outcomes }) => outcomes)).toEqual([{ started: 2 }]);
    });

    test("is in no row until a minute has passed, and costs no row each", async () => {
      for (let i = 0; i < 5; i++) await f.begin({ cookie: undefined });
      const { db } = f.latchkey.storage;
      const rows = () => db.selectFrom("sign_on_tallies_by_key").selectAll().execute();
      await f.latchkey.app.tidy();
      expect(await rows()).toEqual([]);
      f.latchkey.clock.advance(61_000);
      await f.latchkey.app.tidy();
      expect((await rows()).map(({ figures }) => JSON.parse(figures).outcomes)).toEqual([{ started: 5 }]);
    });

    test("is written when the service stops", async () => {
      await f.begin({ cookie: undefined });
      await f.redeem(await f.signOn());
      await f.latchkey.app.stop();
      expect((await read()).map(({ outcomes }) => outcomes)).toEqual([{ exchanged: 1, started: 2 }]);
    });

    test("counts no test sign-on, and no sign-on that is refused before the redirect", async () => {
      const offered = await f.store.call(testSignOn, { ids: { realm: f.realmId, id: f.profileId } });
      const { url } = offered.body.data;
      expect((await f.latchkey.app.fetch(new Request(url))).status).toBe(303);
      await f.begin({ cookie: undefined }, { scope: "openid" });
      expect((await aMinuteLater()).map(({ outcomes }) => outcomes)).toEqual([{ failed: 1 }]);
    });
  });

  describe("purpose", () => {
    test("shoppers and members are counted apart", async () => {
      await f.redeem(await f.signOn());
      await members.token("ada@work.example", "viewer");
      expect(await aMinuteLater()).toMatchObject([
        { profile_id: f.profileId, outcomes: { exchanged: 1, started: 1 } },
      ]);
      expect(await read("purpose=members")).toMatchObject([
        { profile_id: members.profileId, outcomes: { exchanged: 1, started: 1 } },
      ]);
    });

    test("also of sign-ons that were refused before their profile was known", async () => {
      await members.signOn({}, { profile: undefined, scope: "openid" });
      await f.signOn({ parameters: { profile: undefined, scope: "openid" } });
      await f.signOn({ parameters: { profile: undefined, scope: "openid" } });
      expect(await tidied()).toMatchObject([{ profile_id: null, outcomes: { failed: 2 } }]);
      expect(await read("purpose=members")).toMatchObject([{ profile_id: null, outcomes: { failed: 1 } }]);
    });

    test("members' figures stay members' when their provider is deleted", async () => {
      await members.token("ada@work.example", "viewer");
      await tidy();
      await f.store.call(deleteProfile, { ids: { realm: members.realmId, id: members.profileId } });
      expect(await read()).toEqual([]);
      expect(await read("purpose=members")).toMatchObject([{ outcomes: { exchanged: 1 } }]);
    });

    test("figures of an earlier release count by the realm of their profile", async () => {
      const { storage, clock } = f.latchkey;
      const figures = (outcome: string) =>
        JSON.stringify({ outcomes: { [outcome]: 3 }, reasons: {}, idpMs: {} });
      const row = { store_id: f.store.store.id, minute: clock.now() };
      await storage.db
        .insertInto("sign_on_tallies")
        .values([
          { ...row, position: 1, profile_id: f.profileId, figures: figures("exchanged") },
          { ...row, position: 2, profile_id: members.profileId, figures: figures("expired") },
          { ...row, position: 3, profile_id: "", figures: figures("failed") },
        ])
        .execute();
      expect((await tidied()).map(({ outcomes }) => outcomes)).toEqual([{ failed: 3 }, { exchanged: 3 }]);
      expect((await read("purpose=members")).map(({ outcomes }) => outcomes)).toEqual([{ expired: 3 }]);
      expect(await read("group=key")).toMatchObject([
        { key_id: null, outcomes: { failed: 3, exchanged: 3 } },
      ]);
    });

    test("400 for another purpose", async () => {
      const answer = await f.store.call(getSignOnStatistics, { query: "purpose=all" });
      expect(answer.code).toBe("parameter_invalid");
    });
  });

  describe("group=key", () => {
    test("a public client's sign-on counts under no key, until a key's token redeems its code", async () => {
      const till = await newKey();
      const signedOn = await f.signOn();
      await f.signOn();
      expect(await tidied("group=key")).toMatchObject([{ key_id: null, outcomes: { code_issued: 2 } }]);
      await f.redeem(signedOn, {}, { token: till.token });
      expect(await aMinuteLater("group=key")).toMatchObject([
        { key_id: null, outcomes: { code_issued: 1, started: 2 } },
        { key_id: till.id, outcomes: { exchanged: 1 } },
      ]);
    });

    test("a key that is the client counts from the redirect on", async () => {
      const client = await newKey();
      const begun = await f.signOn({ parameters: { client_id: client.clientId } });
      await f.signOn({ parameters: { client_id: client.clientId, scope: "openid" } });
      await f.begin({ cookie: undefined }, { client_id: client.clientId });
      expect(await tidied("group=key")).toMatchObject([
        { key_id: client.id, outcomes: { code_issued: 1, failed: 1 } },
      ]);
      const { clientId: client_id, clientSecret: client_secret } = client;
      const form = { client_id, client_secret, code_verifier: begun.pkce.verifier };
      expect((await redeemAtRealm(begun.code, form)).status).toBe(200);
      expect(await aMinuteLater("group=key")).toMatchObject([
        { key_id: client.id, outcomes: { exchanged: 1, failed: 1, started: 2 } },
      ]);
    });

    test("a code of one key that another key's token brings counts under the key that is the client", async () => {
      const [client, thief] = [await newKey(), await newKey()];
      const begun = await f.signOn({ parameters: { client_id: client.clientId } });
      expect((await f.redeem(begun, {}, { token: thief.token })).status).toBe(400);
      expect(await tidied("group=key")).toMatchObject([{ key_id: client.id, outcomes: { failed: 1 } }]);
    });

    test("a public client that redeems without a key stays under no key", async () => {
      const { code, pkce } = await f.signOn();
      const form = { client_id: "customers", code_verifier: pkce.verifier };
      expect((await redeemAtRealm(code, form)).status).toBe(200);
      expect(await tidied("group=key")).toMatchObject([{ key_id: null, outcomes: { exchanged: 1 } }]);
    });

    test("a deleted key stays as its id", async () => {
      const till = await newKey();
      await f.redeem(await f.signOn(), {}, { token: till.token });
      await f.store.call(deleteApplicationKey, { ids: { id: till.id } });
      expect(await tidied("group=key")).toMatchObject([{ key_id: till.id, outcomes: { exchanged: 1 } }]);
    });

    test("members' sign-ons have no key", async () => {
      await members.token("ada@work.example", "viewer");
      expect(await tidied("group=key&purpose=members")).toMatchObject([
        { key_id: null, outcomes: { exchanged: 1 } },
      ]);
      expect(await read("group=key")).toEqual([]);
    });

    test("an entry has no profile, and its time at the provider is the key's", async () => {
      await f.redeem(await f.signOn());
      const [entry] = await tidied("group=key");
      expect(Object.keys(entry as Entry).sort()).toEqual(["from", "idp_ms", "key_id", "outcomes", "reasons"]);
      expect(entry).toMatchObject({ idp_ms: { p50: expect.any(Number) } });
    });
  });
});
