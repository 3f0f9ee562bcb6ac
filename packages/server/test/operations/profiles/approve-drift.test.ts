import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../../src/contract/caller.ts";
import {
  approveDrift,
  deleteProfile,
  getProfile,
  updateProfile,
} from "../../../src/contract/oidc-profiles.ts";
import { createEgress } from "../../../src/egress/egress.ts";
import * as approval from "../../../src/profiles/approve-drift.ts";
import { type Calls, createCalls } from "../../../src/profiles/calls.ts";
import { Directory } from "../../../src/profiles/directory.ts";
import { findProfile, type Profile } from "../../../src/profiles/profile.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type Answer, call } from "../../support/call.ts";
import { engines, type TestDatabase } from "../../support/engines.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../../support/hostile-idp.ts";

/** A provider's changed document is used once an administrator has approved it. */

const FRESH_MS = 5 * 60_000;
const DISCOVERY = "/.well-known/openid-configuration";

let idp: HostileIdp;
let elsewhere: HostileIdp;
let third: HostileIdp;

beforeAll(async () => {
  idp = await startHostileIdp();
  elsewhere = await startHostileIdp();
  third = await startHostileIdp();
});
afterAll(async () => {
  for (const provider of [idp, elsewhere, third]) await provider.close();
});

describe.each(engines)("approval of drift on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  let directory: Directory;
  let calls: Calls;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    idp.hooks = {};
    const allowedOrigins = [idp, elsewhere, third].map(({ origin }) => origin);
    f = await createFederation({ idp, allowedOrigins, databaseUrl: database.url });
    const { storage, clock } = f.latchkey;
    calls = createCalls({ egress: createEgress({ allowedOrigins }), clock });
    directory = new Directory({ storage, clock, calls, allowedOrigins });
    idp.journal.length = 0;
  });
  afterEach(async () => {
    await f?.close();
    await database?.drop();
  });

  const ids = () => ({ realm: f.realmId, id: f.profileId });
  const approve = (digest: string): Promise<Answer> =>
    f.store.call(approveDrift, { ids: ids(), json: { data: { digest } } });
  const update = (data: object) =>
    f.store.call(updateProfile, { ids: ids(), json: { data: { type: "oidc-profile", ...data } } });
  const meta = async () => (await f.store.call(getProfile, { ids: ids() })).body.data.meta;
  const key = () => ({ storeId: f.store.store.id, realmId: f.realmId, profileId: f.profileId });
  /** The token endpoint that a sign-on would use now. */
  const tokenEndpoint = async () => {
    const profile = await findProfile(f.latchkey.storage.db, key());
    return profile && (await directory.metadataOf(profile))?.tokenEndpoint;
  };
  const at = (provider: HostileIdp) => `${provider.origin}/token`;
  /** The provider's document names another token endpoint, and a check has found it. */
  const drift = async (provider: HostileIdp): Promise<string> => {
    idp.hooks.discovery = (document) => ({ ...document, token_endpoint: at(provider) });
    f.latchkey.clock.advance(FRESH_MS + 1);
    await tokenEndpoint();
    return (await meta()).pending_change.digest;
  };

  test("200 accepts the document that was shown, without a request to the provider", async () => {
    const digest = await drift(elsewhere);
    expect((await meta()).pending_change.changes).toEqual([
      { member: "token_endpoint", before: at(idp), after: at(elsewhere) },
    ]);
    expect(await tokenEndpoint()).toBe(at(idp));
    idp.hooks.discovery = (document) => ({ ...document, token_endpoint: at(third) });
    idp.journal.length = 0;
    const { body } = await approve(digest);
    expect(idp.journal).toEqual([]);
    expect(body.data.meta).toMatchObject({
      pending_change: null,
      endpoint_hosts: expect.arrayContaining([new URL(elsewhere.origin).host]),
    });
    expect(await tokenEndpoint()).toBe(at(elsewhere));
    expect((await meta()).pending_change.changes).toEqual([
      { member: "token_endpoint", before: at(elsewhere), after: at(third) },
    ]);
  });

  test("200 while the provider is down", async () => {
    const digest = await drift(elsewhere);
    idp.hooks.answer = { [DISCOVERY]: (_, response) => void response.writeHead(503).end() };
    expect((await approve(digest)).status).toBe(200);
    expect(await tokenEndpoint()).toBe(at(elsewhere));
  });

  test("a pending change is dropped when the provider returns to the approved document", async () => {
    await drift(elsewhere);
    idp.hooks.discovery = (document) => document;
    f.latchkey.clock.advance(FRESH_MS + 1);
    expect(await tokenEndpoint()).toBe(at(idp));
    expect((await meta()).pending_change).toBeNull();
  });

  test("409 drift_changed with the pending digest for any other digest; the old document stays in use", async () => {
    const shown = await drift(elsewhere);
    const waiting = await drift(third);
    expect(waiting).not.toBe(shown);
    const refused = await approve(shown);
    expect([refused.status, refused.code]).toEqual([409, "drift_changed"]);
    expect(refused.body.errors[0].meta).toEqual({ digest: waiting });
    expect(await tokenEndpoint()).toBe(at(idp));
    expect((await approve(waiting)).status).toBe(200);
    expect(await tokenEndpoint()).toBe(at(third));
  });

  test("an approval and a new drift at once: an unapproved document is never used", async () => {
    for (let round = 0; round < 4; round++) {
      const digest = await drift(elsewhere);
      idp.hooks.discovery = (document) => ({ ...document, token_endpoint: at(third) });
      f.latchkey.clock.advance(FRESH_MS + 1);
      const [answer] = await Promise.all([approve(digest), tokenEndpoint()]);
      const profile = await findProfile(f.latchkey.storage.db, key());
      expect(profile?.metadata?.tokenEndpoint).toBe(answer.status === 200 ? at(elsewhere) : at(idp));
      await update({ discovery_url: `${idp.origin}${round % 2 ? "/" : ""}`, client_secret: "s" });
      idp.hooks = {};
      await update({ discovery_url: idp.discoveryUrl, client_secret: "s" });
      expect(await tokenEndpoint()).toBe(at(idp));
    }
  });

  test("409 adoption_impossible for a profile that was not deleted; nothing is approved", async () => {
    const digest = await drift(elsewhere);
    const other = await f.addProfile({ discovery_url: third.discoveryUrl });
    const json = { data: { digest, adopt_identities_of: other } };
    const refused = await f.store.call(approveDrift, { ids: ids(), json });
    expect([refused.status, refused.code]).toEqual([409, "adoption_impossible"]);
    expect((await meta()).pending_change.digest).toBe(digest);
  });

  test("409 identities_left_behind also for identities that an update adopts during the approval", async () => {
    await f.redeem(await f.signOn());
    await f.store.call(deleteProfile, { ids: ids() });
    const heir = await f.addProfile();
    const { storage, clock } = f.latchkey;
    const heirKey = { ...key(), profileId: heir };
    idp.hooks.discovery = (document) => ({ ...document, issuer: `${idp.origin}/` });
    await directory.metadataOf((await findProfile(storage.db, heirKey)) as Profile);
    const shown = await f.store.call(getProfile, { ids: { realm: f.realmId, id: heir } });
    const { digest } = shown.body.data.meta.pending_change;
    const late: Storage = {
      ...storage,
      async transact(work, row) {
        const data = { type: "oidc-profile", adopt_identities_of: f.profileId };
        const adopted = await f.store.call(updateProfile, {
          ids: { realm: f.realmId, id: heir },
          json: { data },
        });
        expect(adopted.status).toBe(200);
        return storage.transact(work, row);
      },
    };
    const holder = { type: "application_key", id: "key", name: "key", clientId: "key" } as const;
    const caller: Caller = {
      storeId: heirKey.storeId,
      holder,
      grant: "client_credentials",
      role: "administrator",
      requestId: "request",
    };
    const deps = { publicUrl: "", storage: late, clock, calls };
    const approving = approval.approveDrift(
      deps,
      caller,
      { realm: f.realmId, id: heir },
      { data: { digest } },
    );
    await expect(approving).rejects.toMatchObject({ code: "identities_left_behind" });
  });

  test("409 when nothing is pending, and for another profile's id; 400 without a digest", async () => {
    expect((await approve("x")).code).toBe("no_pending_change");
    const answer = await f.store.call(approveDrift, { ids: ids(), json: { data: {} } });
    expect([answer.status, answer.code]).toEqual([400, "member_missing"]);
    const other = await f.store.call(approveDrift, {
      ids: ids(),
      json: { data: { id: f.realmId, digest: "x" } },
    });
    expect(other.code).toBe("id_mismatch");
  });

  test("409 for a second approval, and 403 for an implicit token", async () => {
    const digest = await drift(elsewhere);
    const json = { data: { digest } };
    const public_ = await call(f.latchkey.app, approveDrift, { ids: ids(), json, token: f.implicit });
    expect(public_.code).toBe("not_permitted");
    expect((await approve(digest)).status).toBe(200);
    expect((await approve(digest)).code).toBe("no_pending_change");
  });

  test("another path on the same host needs no approval", async () => {
    await tokenEndpoint();
    idp.hooks.discovery = (document) => ({ ...document, token_endpoint: `${idp.origin}/token/v2` });
    f.latchkey.clock.advance(FRESH_MS + 1);
    expect(await tokenEndpoint()).toBe(`${idp.origin}/token/v2`);
    expect((await meta()).pending_change).toBeNull();
  });

  describe("drift is not approved by", () => {
    const steps: [string, object[]][] = [
      ["a rename", [{ name: "Renamed" }]],
      ["switching it off and on", [{ enabled: false }, { enabled: true }]],
      ["switching on what is on", [{ enabled: true }]],
      ["a new secret", [{ client_secret: "new" }]],
      ["a new client id", [{ client_id: "another", client_secret: "new" }]],
    ];

    test.each(steps)("%s while drift is pending", async (_, changes) => {
      const digest = await drift(elsewhere);
      const { since } = (await meta()).pending_change;
      f.latchkey.clock.advance(1000);
      for (const change of changes) expect((await update(change)).status).toBe(200);
      expect((await meta()).pending_change).toMatchObject({ digest, since });
      expect(await tokenEndpoint()).toBe(at(idp));
      expect((await approve(digest)).status).toBe(200);
      expect(await tokenEndpoint()).toBe(at(elsewhere));
    });

    test.each(steps)("%s when the provider has changed and no check has found it yet", async (_, changes) => {
      idp.hooks.discovery = (document) => ({ ...document, token_endpoint: at(elsewhere) });
      for (const change of changes) expect((await update(change)).status).toBe(200);
      expect(await tokenEndpoint()).toBe(at(idp));
      expect((await meta()).pending_change.changes).toHaveLength(1);
    });
  });

  test("a profile that is enabled again drops a pending change and takes harmless changes", async () => {
    await drift(elsewhere);
    await update({ enabled: false });
    idp.hooks.discovery = (document) => ({ ...document, token_endpoint: `${idp.origin}/token/v2` });
    const { body } = await update({ enabled: true });
    expect(body.data.meta.pending_change).toBeNull();
    expect(await tokenEndpoint()).toBe(`${idp.origin}/token/v2`);
  });

  test("another discovery URL is the store's own choice: its document is used", async () => {
    await drift(elsewhere);
    const { body } = await update({ discovery_url: idp.origin, client_secret: "s" });
    expect(body.data.meta.pending_change).toBeNull();
    expect(await tokenEndpoint()).toBe(at(elsewhere));
  });
});
