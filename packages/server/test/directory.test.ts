import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createProfile } from "../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../src/contract/realms.ts";
import { createEgress } from "../src/egress/egress.ts";
import type { Metadata } from "../src/openid/discovery.ts";
import { createCalls } from "../src/profiles/calls.ts";
import { Directory } from "../src/profiles/directory.ts";
import { findProfile, type Profile } from "../src/profiles/profile.ts";
import { createTestApp, type TestApp, type TestStore } from "./support/app.ts";
import { type HostileIdp, startHostileIdp } from "./support/hostile-idp.ts";

/**
 * The cache of identity providers: fresh for five minutes, usable for a day, with few requests to a failing provider.
 */

let latchkey: TestApp;
let store: TestStore;
let idp: HostileIdp;
let directory: Directory;
let profile: Profile;

const DISCOVERY = "/.well-known/openid-configuration";
const MINUTE = 60_000;

beforeAll(async () => {
  idp = await startHostileIdp();
});
afterAll(() => idp.close());
beforeEach(async () => {
  idp.hooks = {};
  latchkey = await createTestApp({ allowedOrigins: [idp.origin] });
  store = await latchkey.createStore(10_000);
  directory = newDirectory();
  profile = await newProfile();
  idp.journal.length = 0;
});
afterEach(() => latchkey.close());

function newDirectory(options: { maxKeys?: number } = {}): Directory {
  const { storage, clock } = latchkey;
  const allowedOrigins = [idp.origin, "http://127.0.0.1:1"];
  const calls = createCalls({ egress: createEgress({ allowedOrigins, callMs: 5000 }), clock });
  return new Directory({ storage, clock, calls, allowedOrigins, ...options });
}

async function newProfile(): Promise<Profile> {
  const realmId = (await store.call(getAuthenticationSettings)).body.data.realm_id;
  const data = {
    type: "oidc-profile",
    name: "n",
    discovery_url: idp.discoveryUrl,
    client_id: "c",
    client_secret: "s",
  };
  const { body } = await store.call(createProfile, { ids: { realm: realmId }, json: { data } });
  const key = { storeId: store.store.id, realmId, profileId: body.data.id };
  return (await findProfile(latchkey.storage.db, key)) as Profile;
}

const isKnown = async (kid: string, of = profile) =>
  (await directory.keysOf(of).keyFor(kid, "ES256")) !== undefined;
const currentKid = () =>
  JSON.parse(Buffer.from(idp.signToken({}).split(".")[0] as string, "base64url").toString()).kid;
const down = { [DISCOVERY]: (_: unknown, response: { destroy(): void }) => void response.destroy() };

test("no provider is requested before it is needed", async () => {
  newDirectory();
  expect(idp.journal).toEqual([]);
});

test("a full cache evicts a provider with many keys, not one with few", async () => {
  directory = newDirectory({ maxKeys: 20 });
  const [few, many, asMany] = [profile, await newProfile(), await newProfile()];
  idp.journal.length = 0;
  const askedBy = async (of: Profile) => {
    const before = idp.asked("/keys");
    await directory.metadataOf(of);
    return idp.asked("/keys") - before;
  };
  expect(await askedBy(few)).toBe(1);
  idp.hooks.keys = ({ keys }) => ({ keys: Array(15).fill(keys[0]) });
  expect([await askedBy(many), await askedBy(asMany)]).toEqual([1, 1]);
  expect([await askedBy(few), await askedBy(asMany), await askedBy(many)]).toEqual([0, 0, 1]);
});

test("the keys of a provider whose profile moved away take no space", async () => {
  directory = newDirectory({ maxKeys: 20 });
  for (const few of [await newProfile(), await newProfile()]) await directory.metadataOf(few);
  idp.hooks.keys = ({ keys }) => ({ keys: Array(15).fill(keys[0]) });
  await directory.metadataOf(profile);
  const moved = { ...profile, discovery_url: idp.origin };
  await directory.metadataOf(moved);
  idp.journal.length = 0;
  await directory.metadataOf(moved);
  expect(idp.journal).toEqual([]);
});

test("a thousand callers at once cost one request; there is no other within five minutes", async () => {
  await Promise.all(Array.from({ length: 1000 }, () => directory.metadataOf(profile)));
  latchkey.clock.advance(5 * MINUTE - 1);
  await directory.metadataOf(profile);
  expect([idp.asked(DISCOVERY), idp.asked("/keys")]).toEqual([1, 1]);
  latchkey.clock.advance(1);
  await directory.metadataOf(profile);
  expect(idp.asked(DISCOVERY)).toBe(2);
});

describe("keys", () => {
  test("a new key works at once after one more request, also a second time within a minute (N53, N54)", async () => {
    expect(await isKnown(currentKid())).toBe(true);
    idp.rotateKey();
    expect(await isKnown(currentKid())).toBe(true);
    latchkey.clock.advance(10_000);
    idp.rotateKey();
    expect(await isKnown(currentKid())).toBe(true);
    expect(idp.asked("/keys")).toBe(3);
  });

  test("a thousand unknown keys within a second cost one more reading, and ten seconds later one more (A45, N32)", async () => {
    await directory.metadataOf(profile);
    idp.journal.length = 0;
    await Promise.all(Array.from({ length: 1000 }, (_, i) => isKnown(`unknown ${i}`)));
    for (let i = 0; i < 1000; i++) await isKnown(`unknown ${i}`);
    latchkey.clock.advance(9_999);
    await isKnown("unknown");
    expect(idp.journal).toHaveLength(1);
    latchkey.clock.advance(1);
    await isKnown("unknown");
    expect(idp.journal).toHaveLength(2);
  });

  test("a removed key is refused after five minutes: the set is replaced, not extended (N55, A44)", async () => {
    const old = currentKid();
    expect(await isKnown(old)).toBe(true);
    idp.rotateKey();
    latchkey.clock.advance(5 * MINUTE);
    expect(await isKnown(old)).toBe(false);
  });

  test("a removed key is refused at once when an unknown key causes a request", async () => {
    const old = currentKid();
    expect(await isKnown(old)).toBe(true);
    idp.rotateKey();
    expect(await isKnown(currentKid())).toBe(true);
    expect(await isKnown(old)).toBe(false);
  });

  test("a request of the keys for a bad signature has the same limit of ten seconds", async () => {
    await directory.metadataOf(profile);
    await directory.keysOf(profile).reread();
    latchkey.clock.advance(1);
    idp.journal.length = 0;
    for (let i = 0; i < 50; i++) await directory.keysOf(profile).reread();
    expect(idp.journal).toEqual([]);
  });

  test("two profiles never share keys (A43)", async () => {
    const other = await newProfile();
    const kid = currentKid();
    expect(await isKnown(kid)).toBe(true);
    idp.hooks.keys = () => ({ keys: [] });
    expect(await isKnown(kid, other)).toBe(false);
    expect(await isKnown(kid)).toBe(true);
  });
});

describe("while the provider is down", () => {
  test("fetched documents are used for a day, with one request every ten seconds at most (N56, T42)", async () => {
    const kid = currentKid();
    expect(await isKnown(kid)).toBe(true);
    idp.hooks.answer = { ...down, "/keys": down[DISCOVERY] as never };
    idp.journal.length = 0;
    for (let minute = 0; minute < 30; minute++) {
      latchkey.clock.advance(MINUTE);
      for (let i = 0; i < 5; i++) expect(await isKnown(kid)).toBe(true);
    }
    expect(idp.journal.length).toBeLessThanOrEqual(30);
    latchkey.clock.advance(24 * 60 * MINUTE);
    expect(await isKnown(kid)).toBe(false);
    expect(await directory.metadataOf(profile)).toBeUndefined();
    idp.hooks = {};
    latchkey.clock.advance(MINUTE);
    expect(await isKnown(kid)).toBe(true);
  });

  test("an unknown key removes no known key when the keys cannot be fetched", async () => {
    const kid = currentKid();
    expect(await isKnown(kid)).toBe(true);
    idp.hooks.answer = { "/keys": down[DISCOVERY] as never };
    expect(await isKnown("unknown")).toBe(false);
    expect(await isKnown(kid)).toBe(true);
  });

  test("the failure to fetch the keys is visible until it ends, also without earlier keys", async () => {
    const kid = currentKid();
    idp.hooks.answer = { "/keys": down[DISCOVERY] as never };
    const cold = newDirectory().keysOf(profile);
    expect([await cold.keyFor(kid, "ES256"), cold.keysFailed()]).toEqual([undefined, true]);
    idp.hooks = {};
    latchkey.clock.advance(10_000);
    expect((await cold.keyFor(kid, "ES256"))?.kid).toBe(kid);
    expect(await cold.keyFor("unknown", "ES256")).toBeUndefined();
    expect(cold.keysFailed()).toBe(false);
  });

  test("a new instance uses the accepted metadata", async () => {
    idp.hooks.answer = down as never;
    expect((await newDirectory().metadataOf(profile))?.issuer).toBe(idp.origin);
  });

  test("an unsound document is not accepted (N60)", async () => {
    const before = await directory.metadataOf(profile);
    idp.hooks.discovery = (document) => ({ ...document, token_endpoint: ["x"] });
    latchkey.clock.advance(5 * MINUTE);
    expect(await directory.metadataOf(profile)).toEqual(before);
  });
});

describe("while drift waits for approval", () => {
  const drifted = (document: object) => ({ ...document, token_endpoint: "http://127.0.0.1:1/token" });

  beforeEach(async () => {
    await directory.metadataOf(profile);
    idp.hooks.discovery = drifted;
  });

  test("the approved document is used as long as the provider answers, not for a day only", async () => {
    for (let hour = 0; hour < 72; hour++) {
      latchkey.clock.advance(60 * MINUTE);
      expect((await directory.metadataOf(profile))?.tokenEndpoint).toBe(`${idp.origin}/token`);
      expect(await isKnown(currentKid())).toBe(true);
    }
  });

  test("keys come from the approved document's address; a new one works, a removed one is refused after five minutes", async () => {
    idp.hooks.discovery = (document) => ({ ...drifted(document), jwks_uri: `${idp.origin}/others` });
    const old = currentKid();
    latchkey.clock.advance(5 * MINUTE);
    expect(await isKnown(old)).toBe(true);
    idp.rotateKey();
    expect(await isKnown(currentKid())).toBe(true);
    latchkey.clock.advance(5 * MINUTE);
    expect(await isKnown(old)).toBe(false);
    expect(await isKnown(currentKid())).toBe(true);
  });

  test("a removed key is refused after five minutes, also without a request for a new one", async () => {
    const old = currentKid();
    expect(await isKnown(old)).toBe(true);
    idp.rotateKey();
    latchkey.clock.advance(5 * MINUTE);
    expect(await isKnown(old)).toBe(false);
  });

  test("the provider is requested no more often than otherwise", async () => {
    idp.journal.length = 0;
    latchkey.clock.advance(5 * MINUTE);
    for (let i = 0; i < 20; i++) {
      await directory.metadataOf(profile);
      latchkey.clock.advance(10_000);
    }
    expect(idp.asked(DISCOVERY)).toBe(1);
  });

  test("a provider that stops answering is usable for a day, as without drift", async () => {
    latchkey.clock.advance(5 * MINUTE);
    await directory.metadataOf(profile);
    idp.hooks.answer = { ...down, "/keys": down[DISCOVERY] as never };
    latchkey.clock.advance(24 * 60 * MINUTE - 1);
    expect(await directory.metadataOf(profile)).toBeDefined();
    latchkey.clock.advance(MINUTE);
    expect(await directory.metadataOf(profile)).toBeUndefined();
  });
});

describe("an update of the profile", () => {
  const renamed = (times = 1): Profile => ({
    ...profile,
    name: "Renamed",
    updated_at: profile.updated_at + times,
  });
  const failing = (_: unknown, response: import("node:http").ServerResponse) =>
    void response.writeHead(500).end();

  test("without a new address or document keeps the fetched documents: sign-on works while the provider is down", async () => {
    const kid = currentKid();
    expect(await isKnown(kid)).toBe(true);
    idp.hooks.answer = { [DISCOVERY]: failing, "/keys": failing };
    expect(await isKnown(kid, renamed())).toBe(true);
    expect([idp.asked(DISCOVERY), idp.asked("/keys")]).toEqual([1, 1]);
  });

  test("fifty times causes no request to a provider that has just failed, with or without a document", async () => {
    idp.hooks.answer = { [DISCOVERY]: failing };
    for (const metadata of [profile.metadata, null]) {
      directory = newDirectory();
      idp.journal.length = 0;
      for (let n = 0; n < 50; n++) await directory.metadataOf({ ...renamed(n), metadata });
      expect(idp.asked(DISCOVERY)).toBe(1);
    }
  });

  test("fifty times causes no further request for unknown keys", async () => {
    for (let n = 0; n < 50; n++) await isKnown(`unknown ${n}`, renamed(n));
    expect(idp.asked("/keys")).toBe(2);
  });

  test("to another address clears the state, and wakes a resting provider", async () => {
    idp.hooks.answer = { [DISCOVERY]: failing };
    for (let n = 0; n < 5; n++) {
      await directory.metadataOf(profile);
      latchkey.clock.advance(10_000);
    }
    await directory.metadataOf(profile);
    idp.hooks = {};
    idp.journal.length = 0;
    await directory.metadataOf({ ...profile, discovery_url: idp.origin });
    expect(idp.asked(DISCOVERY)).toBe(1);
  });

  test("that approves other hosts clears the state, with the approved document and without the old keys", async () => {
    const kid = currentKid();
    expect(await isKnown(kid)).toBe(true);
    idp.hooks.answer = { [DISCOVERY]: failing };
    const metadata = { ...(profile.metadata as Metadata), jwksUri: "http://127.0.0.1:1/keys" };
    const approved = { ...profile, metadata };
    expect(await directory.metadataOf(approved)).toEqual(metadata);
    expect(await isKnown(kid, approved)).toBe(false);
    expect(idp.asked(DISCOVERY)).toBe(2);
  });

  test("by another instance that changes paths alone applies at once, without a request", async () => {
    await directory.metadataOf(profile);
    const metadata = { ...(profile.metadata as Metadata), tokenEndpoint: `${idp.origin}/token/v2` };
    expect(await directory.metadataOf({ ...profile, metadata })).toEqual(metadata);
    expect(idp.asked(DISCOVERY)).toBe(1);
  });

  test("while the document is fetched keeps the fetched document", async () => {
    const { db } = latchkey.storage;
    await db.updateTable("oidc_profiles").set({ metadata: null }).where("id", "=", profile.id).execute();
    const gate = Promise.withResolvers<void>();
    idp.hooks.answer = { [DISCOVERY]: () => gate.promise.then(() => "honest" as const) };
    const reading = directory.metadataOf({ ...profile, metadata: null });
    await db
      .updateTable("oidc_profiles")
      .set({ updated_at: profile.updated_at + 1 })
      .where("id", "=", profile.id)
      .execute();
    gate.resolve();
    await reading;
    const key = { storeId: profile.store_id, realmId: profile.realm_id, profileId: profile.id };
    expect((await findProfile(db, key))?.metadata).toEqual(profile.metadata);
  });
});
