import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { introspectToken, revokeToken } from "../../src/contract/access-tokens.ts";
import * as keys from "../../src/contract/application-keys.ts";
import * as tokens from "../../src/contract/customer-tokens.ts";
import * as customers from "../../src/contract/customers.ts";
import * as profiles from "../../src/contract/oidc-profiles.ts";
import * as realms from "../../src/contract/realms.ts";
import { backchannelLogout, realmToken } from "../../src/contract/sign-on.ts";
import { getStore, updateStore } from "../../src/contract/store.ts";
import { createStore } from "../../src/create-store.ts";
import { byOperator } from "../../src/events/event.ts";
import { updateStoreAsOperator } from "../../src/stores/administer.ts";
import type { Answer } from "../support/call.ts";
import { call } from "../support/call.ts";
import { createFederation, type Federation, SHOP } from "../support/federation.ts";
import { happenedIn, isWhole, typesOf } from "../support/log.ts";

/** Every change of a store's data leaves an event: the change, its subject, its actor and its request (wire 16). */

let f: Federation;
beforeAll(async () => {
  f = await createFederation();
});
afterAll(async () => {
  expect(await isWhole(f.latchkey, f.store)).toBe(true);
  await f.close();
});

const happened = (work: () => Promise<unknown>): Promise<Answer["body"][]> =>
  happenedIn(f.latchkey, f.store, work);
const ACTOR = { type: "application_key", name: "First key" };
const data = (type: string, members: object = {}) => ({ json: { data: { type, ...members } } });

describe("a new store", () => {
  test("begins its log with its first key and realm, with the operator as the actor", async () => {
    const { storage, clock, app } = f.latchkey;
    const made = await createStore({ storage, clock }, { name: "New", rate_limit: 10 });
    await app.tidy();
    const rows = await storage.db
      .selectFrom("events")
      .selectAll()
      .where("store_id", "=", made.store.id)
      .execute();
    expect(typesOf(rows)).toEqual(["application_key.created", "authentication_realm.created"]);
    expect(JSON.parse(rows[0]?.data ?? "").actor).toEqual({ type: "operator", id: null, name: null });
    expect(JSON.stringify(rows)).not.toContain(made.key.clientSecret);
  });
});

describe("application keys", () => {
  test("created, updated, rotated and deleted, with the resource of the API and the request id", async () => {
    let made: Answer["body"];
    const [created] = await happened(async () => {
      const answer = await f.store.call(keys.createApplicationKey, data("application_key", { name: "One" }));
      made = { ...answer.body.data, request: answer.headers.get("x-request-id") };
    });
    const { client_secret, request, ...shown } = made;
    expect(created).toMatchObject({
      specversion: "1.0",
      source: "https://keys.example/v2/store",
      type: "application_key.created",
      subject: made.id,
      storeid: f.store.store.id,
      datacontenttype: "application/json",
    });
    expect(created.data.resource).toEqual(shown);
    expect(created.data.actor).toEqual({ ...ACTOR, id: f.store.key.id });
    expect(created.data.request_id).toBe(request);
    expect(created.data).not.toHaveProperty("changes");
    expect(JSON.stringify(created)).not.toContain(client_secret);

    const ids = { ids: { id: made.id } };
    const put = (members: object) =>
      happened(() =>
        f.store.call(keys.updateApplicationKey, { ...ids, ...data("application_key", members) }),
      );
    const [updated] = await put({ name: "Two", reserved_rate_limit: 3 });
    expect([updated.type, updated.data.changes]).toEqual([
      "application_key.updated",
      { name: { before: "One", after: "Two" }, reserved_rate_limit: { before: 0, after: 3 } },
    ]);
    expect(updated.data.resource).toEqual((await f.store.call(keys.getApplicationKey, ids)).body.data);
    expect(await put({ name: "Two", reserved_rate_limit: 3 })).toEqual([]);
    expect(await put({ name: "Two", reserved_rate_limit: 1e6 })).toEqual([]);
    const rotated = await happened(() => f.store.call(keys.rotateApplicationKey, ids));
    expect(typesOf(rotated)).toEqual(["application_key.rotated"]);
    const [deleted] = await happened(() => f.store.call(keys.deleteApplicationKey, ids));
    expect([deleted.type, deleted.data.resource]).toEqual([
      "application_key.deleted",
      { type: "application_key", id: made.id },
    ]);
  });
});

describe("the store", () => {
  test("updated by an administrator, and by the operator, whose ceiling counts as a change", async () => {
    const [own] = await happened(() => f.store.call(updateStore, data("store", { name: "Renamed" })));
    expect(own).toMatchObject({ type: "store.updated", subject: f.store.store.id });
    expect(own.data.changes).toEqual({ name: { before: "Test store", after: "Renamed" } });
    expect(own.data.resource).toEqual((await f.store.call(getStore)).body.data);
    expect(await happened(() => f.store.call(updateStore, data("store", { name: "Renamed" })))).toEqual([]);
    const [operators] = await happened(() =>
      updateStoreAsOperator(f.latchkey, byOperator(f.store.store.id), { max_rate_limit: 200_000 }),
    );
    expect(operators.data.changes).toEqual({ max_rate_limit: { before: 100_000, after: 200_000 } });
    expect(operators.data.actor.type).toBe("operator");
  });
});

describe("realms and settings", () => {
  test("created, updated and deleted; an update without a difference leaves no event", async () => {
    let id = "";
    const [created] = await happened(async () => {
      id = (await f.store.call(realms.createRealm, data("authentication-realm", { name: "R" }))).body.data.id;
    });
    expect(created).toMatchObject({ type: "authentication_realm.created", subject: id });
    const put = (members: object) =>
      happened(() =>
        f.store.call(realms.updateRealm, { ids: { id }, ...data("authentication-realm", members) }),
      );
    const [updated] = await put({ duplicate_email_policy: "disallowed" });
    expect([updated.type, updated.data.changes]).toEqual([
      "authentication_realm.updated",
      { duplicate_email_policy: { before: "allowed", after: "disallowed" } },
    ]);
    expect(await put({ name: "R" })).toEqual([]);
    const settings = (members: object) =>
      happened(() =>
        f.store.call(realms.updateAuthenticationSettings, data("customer-authentication-settings", members)),
      );
    const [changed] = await settings({ realm_id: id });
    expect([changed.type, changed.data.changes]).toEqual([
      "customer_authentication_settings.updated",
      { realm_id: { before: f.realmId, after: id } },
    ]);
    expect(await settings({})).toEqual([]);
    await settings({ realm_id: f.realmId });
    const [deleted] = await happened(() => f.store.call(realms.deleteRealm, { ids: { id } }));
    expect([deleted.type, deleted.data.resource]).toEqual([
      "authentication_realm.deleted",
      { type: "authentication-realm", id },
    ]);
  });
});

describe("customers and their tokens", () => {
  const PASSWORD = "correct horse battery";

  test("created, updated, signed in, revoked and deleted; a new password is recorded without the password", async () => {
    let id = "";
    const person = { name: "Ada", email: "ada@shop.example", password: PASSWORD };
    const [created] = await happened(async () => {
      id = (await f.store.call(customers.createCustomer, data("customer", person))).body.data.id;
    });
    expect([created.type, created.subject]).toEqual(["customer.created", id]);
    expect(created.data.resource).toEqual(
      (await f.store.call(customers.getCustomer, { ids: { id } })).body.data,
    );

    let session: Answer["body"];
    const signIn = async (password: string) => {
      const json = { data: { type: "token", email: person.email, password } };
      session = (await call(f.latchkey.app, tokens.issueCustomerToken, { token: f.implicit, json })).body
        .data;
    };
    const [issued] = await happened(() => signIn(PASSWORD));
    expect([issued.type, issued.subject, issued.data.resource.customer_id]).toEqual([
      "customer_token.created",
      session.id,
      id,
    ]);
    expect(issued.data.actor).toEqual({ ...ACTOR, id: f.store.key.id });
    const first = session.id;
    await signIn(PASSWORD);

    const own = { token: f.implicit, ids: { id }, headers: { "x-customer-token": session.token } };
    const changed = await happened(() =>
      call(f.latchkey.app, customers.updateCustomer, {
        ...own,
        ...data("customer", { name: "Ada L.", password: "another horse" }),
      }),
    );
    expect(typesOf(changed)).toEqual(["customer.updated", "customer_token.revoked"]);
    expect(changed[0].data.changes).toEqual({
      name: { before: "Ada", after: "Ada L." },
      password: "(changed)",
    });
    expect(changed[0].data.actor).toEqual({ type: "customer", id, name: null });
    expect(changed[1].subject).toBe(first);
    const same = () => call(f.latchkey.app, customers.updateCustomer, { ...own, ...data("customer") });
    expect(await happened(same)).toEqual([]);

    const revokedBy = async (work: () => Promise<unknown>) => {
      const events = await happened(work);
      expect(typesOf(events)).toEqual(["customer_token.revoked"]);
      return events[0].subject;
    };
    const ids = { customer: id, id: session.id };
    expect(await revokedBy(() => f.store.call(tokens.revokeCustomerToken, { ids }))).toBe(session.id);
    await signIn("another horse");
    const form = {
      token: session.token,
      client_id: f.store.key.clientId,
      client_secret: f.store.key.clientSecret,
    };
    expect(await happened(() => call(f.latchkey.app, introspectToken, { form }))).toEqual([]);
    expect(await revokedBy(() => call(f.latchkey.app, revokeToken, { form }))).toBe(session.id);
    await signIn("another horse");
    expect(await revokedBy(() => f.store.call(tokens.revokeCustomerTokens, { ids }))).toBe(session.id);
    const [deleted, ...others] = await happened(() =>
      f.store.call(customers.deleteCustomer, { ids: { id } }),
    );
    expect(others).toEqual([]);
    expect([deleted.type, deleted.data.resource]).toEqual(["customer.deleted", { type: "customer", id }]);
  });

  test("a first sign-on through a provider creates, links and signs in, in that order; a second one only signs in", async () => {
    f.idp.hooks.claims = (claims) => ({ ...claims, sub: "first" });
    const first = await happened(async () => f.redeem(await f.signOn()));
    expect(typesOf(first)).toEqual([
      "customer.created",
      "customer.identity_linked",
      "customer_token.created",
    ]);
    const [made, linked, token] = first;
    expect(linked.subject).toBe(made.subject);
    expect(linked.data.resource).toMatchObject({ profile_id: f.profileId, subject: "first" });
    expect(token.data.resource).toMatchObject({
      customer_id: made.subject,
      authentication_mechanism: "oidc",
    });
    expect(token.data.actor.id).toBe(f.store.key.id);
    expect(typesOf(await happened(async () => f.redeem(await f.signOn())))).toEqual([
      "customer_token.created",
    ]);
  });

  test("a customer is the actor when the customer's own client library redeems", async () => {
    const signedOn = await f.signOn();
    const form = {
      grant_type: "authorization_code",
      client_id: "customers",
      code: signedOn.code,
      redirect_uri: SHOP,
      code_verifier: signedOn.pkce.verifier,
    };
    const ids = { store: f.store.store.id, realm: f.realmId };
    const [token] = await happened(() => call(f.latchkey.app, realmToken, { ids, form }));
    expect(token.type).toBe("customer_token.created");
    expect(token.data.actor).toEqual({ type: "customer", id: token.data.resource.customer_id, name: null });
  });

  test("a replayed code is recorded with the token that it revoked", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn);
    const thief = { oauth_code_verifier: "x".repeat(43) };
    const events = await happened(() => f.redeem(signedOn, thief));
    expect(typesOf(events)).toEqual(["sign_on.code_replayed", "customer_token.revoked"]);
    expect(await happened(() => f.redeem(signedOn, thief))).toEqual([]);
  });

  test("a session that an identity provider ends has the provider as the actor", async () => {
    f.idp.hooks.claims = (claims) => ({ ...claims, sub: "leaves" });
    await f.redeem(await f.signOn());
    const ids = { store: f.store.store.id, realm: f.realmId, profile: f.profileId };
    const now = Math.floor(f.latchkey.clock.now() / 1000);
    const claims = {
      iss: f.idp.issuer,
      aud: f.idp.clientId,
      iat: now,
      exp: now + 120,
      jti: "one",
      sub: "leaves",
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    };
    const form = { logout_token: f.idp.signToken(claims) };
    const events = await happened(() => call(f.latchkey.app, backchannelLogout, { ids, form }));
    expect(typesOf(events)).toEqual(["customer_token.revoked"]);
    expect(events[0].data.actor).toEqual({ type: "identity_provider", id: f.profileId, name: "Hostile" });
  });
});

describe("sign-ons that failed", () => {
  test("are recorded once each, with their record, with the service as the actor", async () => {
    const events = await happened(async () => {
      const signedOn = await f.signOn();
      await f.redeem(signedOn, { oauth_code_verifier: "x".repeat(43) });
      await f.redeem(signedOn, { oauth_code_verifier: "x".repeat(43) });
    });
    expect(typesOf(events)).toEqual(["sign_on.failed"]);
    expect(events[0].data.resource).toMatchObject({ type: "sign-on", reason: "verifier_mismatch" });
    expect(events[0].data.actor.type).toBe("service");
  });

  test("by strangers do not fill the log: 100 at once, then six a minute", async () => {
    const refused = async (count: number, peer: string) => {
      for (let at = 0; at < count; at++)
        await f.begin({ cookie: undefined, peer }, { scope: "nothing of ours" });
    };
    const events = await happened(async () => {
      for (let source = 0; source < 10; source++) await refused(20, `10.0.${source}.1`);
    });
    expect(events).toHaveLength(100);
    expect(new Set(typesOf(events))).toEqual(new Set(["sign_on.failed"]));
    f.latchkey.clock.advance(60_000);
    expect(await happened(() => refused(20, "10.0.99.1"))).toHaveLength(6);
  });
});

describe("identity providers", () => {
  test("created, updated and deleted; a secret is recorded as changed, a deletion with the number of ended tokens", async () => {
    let id = "";
    const [created] = await happened(async () => {
      id = await f.addProfile({ name: "Other" });
    });
    expect(created).toMatchObject({ type: "oidc_profile.created", subject: id });
    const ids = { realm: f.realmId, id };
    const shown = (await f.store.call(profiles.getProfile, { ids })).body.data;
    const { adoptable: _, ...meta } = shown.meta;
    expect(created.data.resource).toEqual({ ...shown, meta });
    const put = (members: object) =>
      happened(() => f.store.call(profiles.updateProfile, { ids, ...data("oidc-profile", members) }));
    const [renamed] = await put({ name: "Another", client_secret_next: "the next secret" });
    expect([renamed.type, renamed.data.changes]).toEqual([
      "oidc_profile.updated",
      { name: { before: "Other", after: "Another" }, client_secret_next: "(changed)" },
    ]);
    expect(await put({ name: "Another" })).toEqual([]);
    f.idp.hooks.claims = (claims) => ({ ...claims, sub: "of another" });
    await f.redeem(await f.signOn({ parameters: { profile: id } }));
    const [deleted] = await happened(() => f.store.call(profiles.deleteProfile, { ids }));
    expect([deleted.type, deleted.data.resource]).toEqual([
      "oidc_profile.deleted",
      { type: "oidc-profile", id, ended_customer_tokens: 1 },
    ]);
  });
});

describe("changes at a provider", () => {
  const FRESH_MS = 5 * 60_000 + 1;

  test("another document is recorded when it is found, and again when it is approved, once each", async () => {
    const ids = { realm: f.realmId, id: f.profileId };
    const look = async () => {
      f.latchkey.clock.advance(FRESH_MS);
      await f.signOn();
    };
    const elsewhere = "https://else.example/token";
    f.idp.hooks = { discovery: (document) => ({ ...document, token_endpoint: elsewhere }) };
    const found = await happened(async () => {
      await look();
      await look();
    });
    const drifted = found.filter(({ type }) => type.startsWith("oidc_profile."));
    expect(typesOf(drifted)).toEqual(["oidc_profile.drift_detected"]);
    expect(drifted[0].data.actor.type).toBe("service");
    expect(drifted[0].data.changes.token_endpoint.after).toBe(elsewhere);
    const { digest } = (await f.store.call(profiles.getProfile, { ids })).body.data.meta.pending_change;
    const [approved, ...others] = await happened(() =>
      f.store.call(profiles.approveDrift, { ids, json: { data: { digest } } }),
    );
    expect(others).toEqual([]);
    expect([approved.type, approved.data.changes]).toEqual([
      "oidc_profile.drift_approved",
      drifted[0].data.changes,
    ]);
    f.idp.hooks = {};
  });

  test("a provider that goes down is recorded at once, and its recovery after a stable time, once each", async () => {
    const id = await f.addProfile({ name: "Ill" });
    const check = () => f.store.call(profiles.checkProfile, { ids: { realm: f.realmId, id } });
    const health = async (work: () => Promise<unknown>) =>
      (await happened(work))
        .filter(({ subject, type }) => subject === id && type === "oidc_profile.health_changed")
        .map((event) => event.data.changes.health);
    const ill = "/.well-known/openid-configuration";
    f.idp.hooks = { answer: { [ill]: (_, response) => response.writeHead(500).end() } };
    const failing = await health(async () => {
      for (let at = 0; at < 5; at++) await check();
    });
    expect(failing).toEqual([{ before: "up", after: "down" }]);
    expect(await health(check)).toEqual([]);
    f.idp.hooks = {};
    f.latchkey.clock.advance(10_000);
    expect(await health(check)).toEqual([]);
    const stands = await health(async () => f.latchkey.clock.advance(10_000));
    expect(stands).toEqual([{ before: "down", after: "up" }]);
  });
});
