import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { introspectToken } from "../../src/contract/access-tokens.ts";
import { getCustomer } from "../../src/contract/customers.ts";
import { listEvents, streamEvents } from "../../src/contract/events.ts";
import { getMe } from "../../src/contract/members.ts";
import { deleteProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { openStorage } from "../../src/storage/open.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { call, toRequest } from "../support/call.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { createMembersSide, type MembersSide } from "../support/members.ts";
import { until } from "../support/until.ts";

/** The attack: a provider is compromised and an administrator disables it, but its people stay signed in (wire 24). */

describe.each(engines)("a disabled identity provider, on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  let side: MembersSide;
  /** Another instance on the same database. */
  let other: TestApp;
  let people = 0;

  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
    side = await createMembersSide(f);
    const { clock, keyring } = f.latchkey;
    const storage = await openStorage({ clock }, database.url, UNHURRIED);
    other = await createTestApp({ clock, keyring, storage, allowedOrigins: [f.idp.origin] });
  });
  beforeEach(({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    f.latchkey.clock.advance(2000);
  });
  afterAll(async () => {
    await other?.close();
    await f?.close();
    await database?.drop();
  });

  const signedIn = () => side.token(`member-${++people}@shop.example`, "administrator");
  const ids = () => ({ realm: side.realmId, id: side.profileId });
  const enable = (enabled: boolean, of = ids()) =>
    f.store.call(updateProfile, { ids: of, json: { data: { type: "oidc-profile", enabled } } });
  const me = (token: string, at: TestApp = f.latchkey) => call(at.app, getMe, { token });

  /** Follows a stream of events in the background. */
  async function follow(token: string, at: TestApp = f.latchkey) {
    const response = await at.app.fetch(toRequest(streamEvents, { token }));
    const reader = response.body?.getReader();
    const state = { isOver: false };
    void (async () => {
      while (!(await reader?.read())?.done);
      state.isOver = true;
    })();
    return state;
  }

  test("401 at once for its members, whose open event streams end", async () => {
    const token = await signedIn();
    expect((await me(token)).status).toBe(200);
    const stream = await follow(token);
    await enable(false);
    const refused = await me(token);
    expect([refused.status, refused.code]).toEqual([401, "token_invalid"]);
    const form = { client_id: f.store.key.clientId, client_secret: f.store.key.clientSecret, token };
    expect((await call(f.latchkey.app, introspectToken, { form })).body).toEqual({ active: false });
    await until(() => stream.isOver);
    await enable(true);
  });

  test("also on every other instance", async () => {
    const token = await signedIn();
    expect((await me(token, other)).status).toBe(200);
    const stream = await follow(token, other);
    await enable(false);
    await until(async () => (await me(token, other)).status === 401);
    await until(() => stream.isOver);
    await enable(true);
  });

  test("earlier tokens stay refused when it is enabled again; a new sign-in works", async () => {
    const token = await signedIn();
    await enable(false);
    await enable(true);
    f.latchkey.clock.advance(1000);
    expect((await me(token)).code).toBe("token_invalid");
    expect((await me(await signedIn())).status).toBe(200);
  });

  test("tokens of keys, and of a disabled provider's customers, stay until they expire", async () => {
    const profileId = await f.addProfile();
    const own = { realm: f.realmId, id: profileId };
    const signedOn = await f.signOn({ parameters: { profile: profileId } });
    const { token, customer_id: id } = (await f.redeem(signedOn)).body.data;
    await enable(false, own);
    const asked = { token: f.implicit, ids: { id }, headers: { "x-customer-token": token } };
    expect((await call(f.latchkey.app, getCustomer, asked)).status).toBe(200);
    expect((await f.store.call(listEvents)).status).toBe(200);
  });

  test("401 when it is deleted, too", async () => {
    const token = await signedIn();
    expect((await me(token)).status).toBe(200);
    await f.store.call(deleteProfile, { ids: ids() });
    expect((await me(token)).code).toBe("token_invalid");
    await until(async () => (await me(token, other)).status === 401);
  });
});
