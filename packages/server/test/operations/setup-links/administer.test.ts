import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApplicationKey } from "../../../src/contract/application-keys.ts";
import { listEvents } from "../../../src/contract/events.ts";
import { createProfile, deleteProfile } from "../../../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../../../src/contract/realms.ts";
import { createSetupLink, deleteSetupLink, listSetupLinks } from "../../../src/contract/setup-links.ts";
import { deleteStore } from "../../../src/delete-store.ts";
import { hashSecret } from "../../../src/lib/secrets.ts";
import { endRestoredRights } from "../../../src/restore/end-rights.ts";
import { createTestApp, getToken, PUBLIC_URL, type TestApp, type TestStore } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { bothEngines, type TestDatabase } from "../../support/engines.ts";
import { makeLink, visit } from "./links.ts";

/** Set-up links of a profile: made and ended by administrators, listed for every role (wire 27). */

const DAY_MS = 86_400_000;
const LINK = { type: "setup-link", expires_in_days: 7 };
const PROFILE = {
  type: "oidc-profile",
  name: "Company account",
  discovery_url: "https://idp.example",
  client_id: "c",
  enabled: false,
};

describe.each(bothEngines)("set-up links on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;
  let ids: { realm: string; id: string };

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
    store = await latchkey.createStore(10_000);
    const realm = (await store.call(getAuthenticationSettings)).body.data.realm_id;
    ids = { realm, id: await addProfile(realm) };
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const addProfile = async (realm: string): Promise<string> =>
    (await store.call(createProfile, { ids: { realm }, json: { data: PROFILE } })).body.data.id;
  const create = (data: object = LINK) => store.call(createSetupLink, { ids, json: { data } });
  const list = async () => (await store.call(listSetupLinks, { ids })).body.data;
  const end = (link: string) => store.call(deleteSetupLink, { ids: { ...ids, link } });
  const rows = () => latchkey.storage.db.selectFrom("setup_links").selectAll().execute();
  const eventsOf = async (types: string) => {
    await latchkey.app.tidy();
    return (await store.call(listEvents, { query: `types=${types}` })).body.data;
  };

  test("201 with the address of the page, which no later answer has; the database has only a hash", async () => {
    const { status, body } = await create();
    const { url, ...members } = body.data;
    expect(status).toBe(201);
    expect(url).toMatch(new RegExp(`^${PUBLIC_URL}/setup/lksl_[0-9A-Za-z]{49}$`));
    const now = latchkey.clock.now();
    expect(members).toEqual({
      id: expect.any(String),
      type: "setup-link",
      profile_id: ids.id,
      expires_at: new Date(now + 7 * DAY_MS).toISOString(),
      meta: { timestamps: { created_at: new Date(now).toISOString() } },
    });
    expect(await list()).toEqual([members]);
    const token = url.split("/").at(-1);
    const [row] = await rows();
    expect(row).toMatchObject({ store_id: store.store.id, token_hash: hashSecret(token) });
    expect(JSON.stringify(row)).not.toContain(token);
  });

  test.each([
    { ...LINK, expires_in_days: 0 },
    { ...LINK, expires_in_days: 31 },
    { ...LINK, expires_in_days: 1.5 },
    { type: "setup-link" },
  ])("400 for %j", async (data) => {
    expect([(await create(data)).status, await list()]).toEqual([400, []]);
  });

  test("409 for a body with the id of another profile", async () => {
    expect(await create({ ...LINK, id: store.key.id })).toMatchObject({ status: 409, code: "id_mismatch" });
    expect(await list()).toEqual([]);
  });

  test("409 for a sixth live link; an ended and an expired one make room", async () => {
    const made = [];
    for (const days of [1, 7, 7, 7, 7]) made.push(await makeLink(store, ids, days));
    expect(await create()).toMatchObject({ status: 409, code: "setup_links_full" });
    expect((await end(made[4]?.id ?? "")).status).toBe(204);
    expect((await create()).status).toBe(201);
    latchkey.clock.advance(DAY_MS);
    const { body } = await call(latchkey.app, listSetupLinks, { ids, token: await store.token() });
    expect(body.data.map(({ id }: { id: string }) => id)).not.toContain(made[0]?.id);
    expect(body.data).toHaveLength(4);
    expect((await call(latchkey.app, createSetupLink, await fresh())).status).toBe(201);
    expect((await call(latchkey.app, createSetupLink, await fresh())).status).toBe(409);
  });
  /** Access tokens last an hour. */
  const fresh = async () => ({ ids, token: await store.token(), json: { data: LINK } });

  test("of parallel requests for the last place one gets it, and other profiles have places of their own", async () => {
    for (let made = 0; made < 4; made++) await create();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create()));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
    expect(await rows()).toHaveLength(5);
    const other = { realm: ids.realm, id: await addProfile(ids.realm) };
    expect((await makeLink(store, other)).url).toContain("/setup/");
  });

  test("an ended link is 404, on its page and when it is ended again", async () => {
    const { id, token } = await makeLink(store, ids);
    expect((await visit(latchkey, token)).status).toBe(200);
    expect((await end(id)).status).toBe(204);
    expect((await visit(latchkey, token)).code).toBe("setup_link_not_found");
    expect((await end(id)).code).toBe("setup_link_not_found");
    expect(await rows()).toEqual([]);
  });

  test("an expired link is 404 everywhere, and its row is deleted", async () => {
    const { id, token } = await makeLink(store, ids, 1);
    latchkey.clock.advance(DAY_MS - 1);
    expect((await visit(latchkey, token)).status).toBe(200);
    latchkey.clock.advance(1);
    expect((await visit(latchkey, token)).code).toBe("setup_link_not_found");
    const late = { ids: { ...ids, link: id }, token: await store.token() };
    expect((await call(latchkey.app, deleteSetupLink, late)).code).toBe("setup_link_not_found");
    // On PostgreSQL rows stay for as long as another instance's clock may be behind.
    latchkey.clock.advance(180_000);
    await latchkey.app.tidy();
    expect(await rows()).toEqual([]);
  });

  test("the log has who made and who ended a link, and never its address", async () => {
    const { id, token, expires_at } = await makeLink(store, ids);
    await end(id);
    const events = await eventsOf("setup_link.*");
    expect(events.map(({ type, subject }: { type: string; subject: string }) => [type, subject])).toEqual([
      ["setup_link.created", id],
      ["setup_link.deleted", id],
    ]);
    expect(events[0].data).toMatchObject({
      resource: { id, type: "setup-link", profile_id: ids.id, expires_at },
      actor: { type: "application_key", id: store.key.id },
    });
    expect(events[1].data.resource).toEqual({ type: "setup-link", id });
    expect(JSON.stringify(events)).not.toContain(token.slice(5));
  });

  test("go with their profile, and with their store", async () => {
    const first = await makeLink(store, ids);
    const other = { realm: ids.realm, id: await addProfile(ids.realm) };
    const second = await makeLink(store, other);
    await store.call(deleteProfile, { ids });
    expect((await visit(latchkey, first.token)).code).toBe("setup_link_not_found");
    expect((await rows()).map(({ id }) => id)).toEqual([second.id]);
    await deleteStore(latchkey, store.store.id);
    expect((await visit(latchkey, second.token)).code).toBe("setup_link_not_found");
    expect(await rows()).toEqual([]);
  });

  test("a restore ends all of them, because some may have been ended after the backup", async () => {
    const { token } = await makeLink(store, ids);
    expect(await endRestoredRights(latchkey)).toMatchObject({ setup_links: 1 });
    expect((await visit(latchkey, token)).code).toBe("setup_link_not_found");
  });

  test("viewers list links; only administrators make and end them; an implicit token does nothing", async () => {
    const { id } = await makeLink(store, ids);
    const tokenOf = async (role: string) => {
      const json = { data: { type: "application_key", name: role, role } };
      const { client_id: clientId, client_secret: clientSecret } = (
        await store.call(createApplicationKey, { json })
      ).body.data;
      const key = { ...store.key, clientId, clientSecret };
      return getToken(latchkey.app, { ...store, key }, "client_credentials");
    };
    const [viewer, support, stranger] = [
      await tokenOf("viewer"),
      await tokenOf("support"),
      await store.token("implicit"),
    ];
    const seen = await call(latchkey.app, listSetupLinks, { ids, token: viewer });
    expect(seen.body.data).toHaveLength(1);
    const isRefused = async (token: string, code: string) => {
      const made = await call(latchkey.app, createSetupLink, { ids, token, json: { data: LINK } });
      const ended = await call(latchkey.app, deleteSetupLink, { ids: { ...ids, link: id }, token });
      expect([made.code, ended.code]).toEqual([code, code]);
    };
    for (const token of [viewer, support]) await isRefused(token, "role_insufficient");
    await isRefused(stranger, "not_permitted");
    expect((await call(latchkey.app, listSetupLinks, { ids, token: stranger })).code).toBe("not_permitted");
  });
});
