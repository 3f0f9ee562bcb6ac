import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  checkProfile,
  createProfile,
  deleteProfile,
  listProfiles,
  updateProfile,
} from "../../src/contract/oidc-profiles.ts";
import {
  getAuthenticationSettings,
  updateAuthenticationSettings,
  updateRealm,
} from "../../src/contract/realms.ts";
import { authorize } from "../../src/contract/sign-on.ts";
import { newId } from "../../src/lib/ids.ts";
import { findProfile } from "../../src/profiles/profile.ts";
import { saveDocuments } from "../../src/profiles/save-documents.ts";
import { openStorage } from "../../src/storage/open.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { newPkce, SHOP } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { watchStatements } from "../support/statements.ts";
import { until } from "../support/until.ts";

const SHOWN = /customer_authentication_settings|oidc_profiles/;

let idp: HostileIdp;
beforeAll(async () => {
  idp = await startHostileIdp();
});
afterAll(() => idp.close());

describe.each(engines)("the list of providers for a storefront, on $name", (engine) => {
  let database: TestDatabase;
  let here: TestApp;
  let there: TestApp | undefined;
  let shop: TestStore;
  let realm: string;
  let implicit: string;
  /** The statements of the list in the database. */
  const statements: string[] = [];

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    const clock = handClock();
    const storage = watchStatements(
      await openStorage({ clock }, database.url, UNHURRIED),
      ({ sql }) => void (SHOWN.test(sql) && statements.push(sql)),
    );
    here = await createTestApp({ clock, storage, allowedOrigins: [idp.origin] });
    shop = await here.createStore(10_000);
    implicit = await shop.token("implicit");
    realm = (await shop.call(getAuthenticationSettings)).body.data.realm_id;
  });
  afterEach(async () => {
    await there?.close();
    there = undefined;
    await here?.close();
    await database?.drop();
  });

  const settings = async ({ app }: TestApp) =>
    (await call(app, getAuthenticationSettings, { token: implicit })).body.data;
  const list = async ({ app }: TestApp, query = "") =>
    (await call(app, listProfiles, { token: implicit, ids: { realm }, query })).body.data;
  const create = async () =>
    (
      await shop.call(createProfile, {
        ids: { realm },
        json: {
          data: {
            type: "oidc-profile",
            name: "Company account",
            discovery_url: idp.discoveryUrl,
            client_id: idp.clientId,
            client_secret: "marker secret",
          },
        },
      })
    ).body.data.id as string;

  test("is read from the database once", async () => {
    await create();
    await create();
    const first = [await settings(here), await list(here)];
    statements.length = 0;
    expect([await settings(here), await list(here)]).toEqual(first);
    expect(statements).toEqual([]);
    // Further pages are rarely read and therefore not cached; a page of another size is another entry.
    expect(await list(here, "page[offset]=2")).toEqual([]);
    expect(await list(here, "page[limit]=1")).toHaveLength(1);
    expect(statements).not.toEqual([]);
  });

  const begin = ({ app }: TestApp, profile: string) => {
    const asked = {
      profile,
      response_type: "code",
      client_id: "customers",
      redirect_uri: SHOP,
      scope: "openid email",
      state: "the shop's",
      code_challenge_method: "S256",
      code_challenge: newPkce().challenge,
    };
    const query = new URLSearchParams(asked).toString();
    return call(app, authorize, { ids: { store: shop.store.id, realm }, query });
  };
  const allow = (...redirect_uris: string[]) =>
    shop.call(updateRealm, {
      ids: { id: realm },
      json: { data: { type: "authentication-realm", redirect_uris } },
    });

  test("is cached for the start of a sign-on, and follows a change at once here and within a second elsewhere", async () => {
    const id = await create();
    await allow(SHOP);
    const egress = { allowedOrigins: [idp.origin] };
    const other = await createTestApp({ clock: here.clock, databaseUrl: database.url, ...egress });
    there = other;
    expect([(await begin(here, id)).status, (await begin(other, id)).status]).toEqual([303, 303]);
    statements.length = 0;
    expect((await begin(here, id)).status).toBe(303);
    expect(statements).toEqual([]);

    await allow("https://shop.example/elsewhere");
    expect((await begin(here, id)).code).toBe("redirect_uri_unregistered");
    await until(async () => (await begin(other, id)).code === "redirect_uri_unregistered");

    await allow(SHOP);
    expect((await begin(here, id)).status).toBe(303);
    await shop.call(updateProfile, {
      ids: { realm, id },
      json: { data: { type: "oidc-profile", enabled: false } },
    });
    const { location } = Object.fromEntries((await begin(here, id)).headers);
    expect(location).toContain("error=access_denied");
  });

  test("is not cached for an unknown profile", async () => {
    await create();
    await allow(SHOP);
    const unknown = newId();
    await begin(here, unknown);
    statements.length = 0;
    await begin(here, unknown);
    expect(statements).not.toEqual([]);
  });

  test("follows a change at once where it was made, and within a second on other instances", async () => {
    const other = await createTestApp({ clock: here.clock, databaseUrl: database.url });
    there = other;
    const names = async (at: TestApp) => (await list(at)).map(({ name }: { name: string }) => name);
    const clientIds = async () => [(await settings(here)).client_id, (await settings(other)).client_id];
    expect([await names(here), await names(other), await clientIds()]).toEqual([
      [],
      [],
      ["customers", "customers"],
    ]);

    const id = await create();
    expect(await names(here)).toEqual(["Company account"]);
    await until(async () => (await names(other))[0] === "Company account");

    await shop.call(updateProfile, {
      ids: { realm, id },
      json: { data: { type: "oidc-profile", name: "Renamed" } },
    });
    expect(await names(here)).toEqual(["Renamed"]);
    await until(async () => (await names(other))[0] === "Renamed");

    await shop.call(deleteProfile, { ids: { realm, id } });
    expect(await names(here)).toEqual([]);
    await until(async () => (await names(other)).length === 0);

    await shop.call(updateAuthenticationSettings, {
      json: { data: { type: "customer-authentication-settings", client_id: "shoppers" } },
    });
    expect((await settings(here)).client_id).toBe("shoppers");
    await until(async () => (await clientIds()).every((clientId) => clientId === "shoppers"));
  });

  test("differs from an administrator's list, which is read from the database", async () => {
    await settings(here);
    await here.storage.db
      .updateTable("customer_authentication_settings")
      .set({ client_id: "behind our back" })
      .where("store_id", "=", shop.store.id)
      .execute();
    expect((await shop.call(getAuthenticationSettings)).body.data.client_id).toBe("behind our back");
  });

  test("shows the health that this instance has measured at once, before it is reported", async () => {
    const id = await create();
    const shown = async () => (await list(here))[0].meta.health.status;
    expect(await shown()).toBe("up");
    const document = "/.well-known/openid-configuration";
    idp.hooks.answer = { [document]: (_, response) => void response.writeHead(503).end() };
    for (let failure = 0; failure < 5; failure++) await shop.call(checkProfile, { ids: { realm, id } });
    statements.length = 0;
    expect(await shown()).toBe("down");
    expect(statements).toEqual([]);
    idp.hooks = {};
  });

  test("follows the health that another instance has reported, down and up again, without a sign-on here", async () => {
    const id = await create();
    const other = await createTestApp({
      databaseUrl: database.url,
      clock: here.clock,
      allowedOrigins: [idp.origin],
    });
    there = other;
    const shownThere = async () => (await list(other))[0].meta.health.status;
    const check = () => shop.call(checkProfile, { ids: { realm, id } });
    expect(await shownThere()).toBe("up");
    const document = "/.well-known/openid-configuration";
    idp.hooks.answer = { [document]: (_, response) => void response.writeHead(503).end() };
    for (let failure = 0; failure < 5; failure++) await check();
    await here.app.tidy();
    await until(async () => (await shownThere()) === "down");
    idp.hooks = {};
    here.clock.advance(10_000);
    await check();
    here.clock.advance(10_000);
    await here.app.tidy();
    await until(async () => (await shownThere()) === "up");
  });

  test("follows a newly fetched document, and one that waits for approval", async () => {
    const key = { storeId: shop.store.id, realmId: realm, profileId: await create() };
    const profile = await findProfile(here.storage.db, key);
    if (!profile?.metadata) throw new Error("the profile has no document");
    const changed: (string | undefined)[] = [];
    here.storage.changes.listen((storeId) => changed.push(storeId));
    const calls = { healthOf: () => undefined };
    const deps = { storage: here.storage, clock: here.clock, calls };
    const drifted = JSON.stringify({ ...profile.metadata, issuer: "https://elsewhere.example" });
    await saveDocuments(deps, profile, { pending_metadata: drifted, pending_since: 1 });
    expect(changed).toContain(shop.store.id);
    changed.length = 0;
    const moved = JSON.stringify({ ...profile.metadata, tokenEndpoint: `${idp.origin}/other` });
    await saveDocuments(deps, profile, { metadata: moved });
    expect(changed).toContain(shop.store.id);
  });
});
