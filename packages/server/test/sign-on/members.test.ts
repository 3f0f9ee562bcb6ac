import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { introspectToken, issueAccessToken } from "../../src/contract/access-tokens.ts";
import { getCustomer, listCustomers, updateCustomer } from "../../src/contract/customers.ts";
import { listEvents } from "../../src/contract/events.ts";
import { checkAtGateway } from "../../src/contract/gateway.ts";
import { deleteMember, getMe, getMember, updateMember } from "../../src/contract/members.ts";
import {
  createProfile,
  deleteProfile,
  getProfile,
  listProfiles,
  updateProfile,
} from "../../src/contract/oidc-profiles.ts";
import { operations } from "../../src/contract/operations.ts";
import { isPermitted } from "../../src/contract/permissions.ts";
import {
  createRealm,
  getAuthenticationSettings,
  getRealm,
  listRealms,
  updateAuthenticationSettings,
  updateRealm,
} from "../../src/contract/realms.ts";
import { mayActAs, ROLES } from "../../src/contract/roles.ts";
import { authorize, realmMetadata, realmToken } from "../../src/contract/sign-on.ts";
import { getStore, updateStore } from "../../src/contract/store.ts";
import { deleteStore } from "../../src/delete-store.ts";
import { createTestApp, PUBLIC_URL } from "../support/app.ts";
import { call } from "../support/call.ts";
import { createFederation, type Federation, SHOP } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";
import { CONSOLE, createMembersSide, type MembersSide } from "../support/members.ts";

/** People of the store sign in at the console, as themselves, and as nothing else. */

let f: Federation;
let side: MembersSide;
let people = 0;
/** An address that nobody in this file has had. */
const somebody = () => `person-${++people}@shop.example`;

beforeAll(async () => {
  f = await createFederation();
  side = await createMembersSide(f);
});
beforeEach(() => {
  f.latchkey.clock.advance(2000);
  f.idp.person = { ...ADA };
});
afterAll(() => f.close());

const statusOf = async (id: string) => (await f.store.call(getMember, { ids: { id } })).body.data.meta.status;
const reasonOf = async (reference: string) => (await f.recordOf(reference)).reason;
const customers = async () => (await f.store.call(listCustomers)).body.meta.results.total;

/** Another profile of the members' realm, at the same provider. */
const addProfile = async () => {
  const data = {
    type: "oidc-profile",
    name: "Second",
    discovery_url: f.idp.discoveryUrl,
    client_id: f.idp.clientId,
    client_secret: f.idp.clientSecrets[0],
  };
  return (await f.store.call(createProfile, { ids: { realm: side.realmId }, json: { data } })).body.data.id;
};

describe("a member's sign-on", () => {
  test("ends at the console with a code that is worth an access token for an hour, and makes no customer", async () => {
    const [email, before] = [somebody(), await customers()];
    const id = await side.invite(email, "support", { name: "Ada Reed" });
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    expect(signedOn.answer.headers.get("location")?.startsWith(`${CONSOLE}?`)).toBe(true);
    const { status, body } = await side.redeem(signedOn);
    expect([status, body.identifier, body.token_type, body.expires_in]).toEqual([
      200,
      "member",
      "Bearer",
      3600,
    ]);
    const me = await side.call(body.access_token, getMe);
    expect(me.body.data).toEqual({
      id,
      type: "caller",
      kind: "member",
      name: "Ada Reed",
      email,
      role: "support",
      store: { id: f.store.store.id, name: "Test store" },
    });
    expect(await customers()).toBe(before);
    const { meta } = (await f.store.call(getMember, { ids: { id } })).body.data;
    expect([meta.status, Date.parse(meta.last_signed_in_at)]).toEqual(["active", f.latchkey.clock.now()]);
  });

  test("passes prompt=none on, so that the console can renew without a page", async () => {
    const begun = await call(f.latchkey.app, authorize, {
      ids: { store: f.store.store.id, realm: side.realmId },
      query: new URLSearchParams(
        f.parameters({
          profile: side.profileId,
          client_id: "members",
          redirect_uri: CONSOLE,
          prompt: "none",
        }),
      ).toString(),
    });
    expect(new URL(begun.headers.get("location") ?? "").searchParams.get("prompt")).toBe("none");
    f.idp.hooks.redirect = ({ state = "" }) => ({ state, error: "login_required" });
    const refused = await side.signOn({}, { prompt: "none" });
    f.idp.hooks = {};
    expect([refused.error, refused.returned.get("state")]).toEqual([
      "login_required",
      "the storefront's state",
    ]);
  });

  test("is refused for whoever is no member, with a reason of its own and a remedy", async () => {
    const signedOn = await side.signOn({ sub: "stranger", email: somebody() });
    expect([signedOn.error, signedOn.code]).toEqual(["access_denied", ""]);
    const record = await f.recordOf(signedOn.reference);
    expect(record.reason).toBe("member_unknown");
    expect(record.remedy).toMatch(/invite/);
  });

  test("takes the realm's client id and the console's redirect URI, and no others", async () => {
    const page = async (parameters: Record<string, string>) =>
      (await side.signOn({}, parameters)).answer.code;
    expect(await page({ client_id: "customers" })).toBe("sign_on_client_unknown");
    // An application key is a client of the realms that are OpenID providers; nobody would take the code here.
    expect(await page({ client_id: f.store.key.clientId })).toBe("sign_on_client_unknown");
    expect(await page({ redirect_uri: SHOP })).toBe("redirect_uri_unregistered");
    const atCustomers = await f.begin({ cookie: undefined }, { client_id: "members" });
    expect(atCustomers.code).toBe("sign_on_client_unknown");
  });
});

describe("a hostile provider", () => {
  test.each([
    ["does not say", { email_verified: undefined }],
    ["says no", { email_verified: false }],
    ["says it as a text", { email_verified: "true" }],
    ["says it as a number", { email_verified: 1 }],
  ])("is not believed on an e-mail when it %s that it has verified it", async (_, claims) => {
    const email = somebody();
    const id = await side.invite(email, "administrator");
    const signedOn = await side.signOn({ sub: "liar", email, ...claims });
    expect([signedOn.error, await reasonOf(signedOn.reference)]).toEqual([
      "access_denied",
      "member_email_unverified",
    ]);
    expect(await statusOf(id)).toBe("invited");
  });

  test("is told the same of an unproven address, whether it is a member's or nobody's", async () => {
    const [known, unknown] = [somebody(), somebody()];
    await side.invite(known, "viewer");
    const answers = [];
    for (const email of [known, unknown]) {
      const { error, returned } = await side.signOn({ sub: "prober", email, email_verified: false });
      answers.push([error, returned.get("error_description")]);
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  test("cannot bind a second subject to a member, with whatever e-mail; the first goes on with whatever e-mail", async () => {
    const email = somebody();
    await side.invite(email, "administrator");
    const first = await side.signOn({ sub: "the right one", email });
    expect((await side.redeem(first)).status).toBe(200);
    const second = await side.signOn({ sub: "another", email });
    expect([second.error, await reasonOf(second.reference)]).toEqual(["access_denied", "member_bound"]);
    const again = await side.signOn({ sub: "the right one", email: somebody(), email_verified: false });
    expect((await side.redeem(again)).status).toBe(200);
  });

  test.each([
    ["upper case", (email: string) => email.toUpperCase(), true],
    ["full-width letters in the domain", (email: string) => email.replace("shop", "ｓｈｏｐ"), true],
    ["a Cyrillic letter", (email: string) => email.replace("o", "\u043e"), false],
    ["a dotless i", (email: string) => email.replace("person", "pers\u0131n"), false],
    ["a zero-width joiner", (email: string) => email.replace("person", "per\u200dson"), false],
    ["a combining mark", (email: string) => email.replace("person", "person\u0301"), false],
    ["full-width letters in the mailbox", (email: string) => email.replace("person", "ｐerson"), false],
    ["a second address", (email: string) => `${email},evil@evil.example`, false],
    ["a tag", (email: string) => email.replace("@", "+tag@"), false],
  ])("with %s in the e-mail", async (_, spell, isTheSame) => {
    const email = somebody();
    const id = await side.invite(email, "administrator");
    const signedOn = await side.signOn({ sub: `spelt ${email}`, email: spell(email) });
    expect(signedOn.error === null).toBe(isTheSame);
    if (isTheSame) expect((await side.redeem(signedOn)).status).toBe(200);
    expect(await statusOf(id)).toBe(isTheSame ? "active" : "invited");
  });

  test("of the customers' realm says nothing about members, and the other way round", async () => {
    const email = somebody();
    const id = await side.invite(email, "administrator");
    f.idp.person = { ...ADA, sub: `customer ${email}`, email };
    const shopper = await f.signOn();
    expect((await f.redeem(shopper)).status).toBe(200);
    expect(await statusOf(id)).toBe("invited");
  });
});

describe("a code", () => {
  test("of a member is no customer's: it is refused there without being touched, and then works where it belongs", async () => {
    const [email, before] = [somebody(), await customers()];
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    const asCustomer = await f.redeem(signedOn, { oauth_redirect_uri: CONSOLE });
    expect([asCustomer.status, asCustomer.code]).toEqual([400, "code_invalid"]);
    const form = {
      grant_type: "authorization_code",
      client_id: "members",
      code: signedOn.code,
      redirect_uri: CONSOLE,
      code_verifier: signedOn.pkce.verifier,
    };
    for (const realm of [side.realmId, f.realmId]) {
      const ids = { store: f.store.store.id, realm };
      const client_id = realm === f.realmId ? "customers" : "members";
      const asClient = await call(f.latchkey.app, realmToken, { ids, form: { ...form, client_id } });
      expect(asClient.code).toBe(realm === f.realmId ? "code_invalid" : "realm_not_found");
    }
    expect(await customers()).toBe(before);
    expect((await side.redeem(signedOn)).status).toBe(200);
  });

  test("of a customer is no member's: it is refused there without being touched, and then works where it belongs", async () => {
    const email = somebody();
    await side.invite(email, "administrator");
    f.idp.person = { ...ADA, sub: `customer ${email}`, email };
    const shopper = await f.signOn();
    const asMember = await side.redeem(shopper, { redirect_uri: SHOP });
    expect([asMember.status, asMember.code, asMember.body.error]).toEqual([
      400,
      "code_invalid",
      "invalid_grant",
    ]);
    expect((await f.redeem(shopper)).status).toBe(200);
  });

  test.each([
    ["verifier", { code_verifier: "v".repeat(43) }, "verifier_mismatch"],
    ["redirect URI", { redirect_uri: `${CONSOLE}/x` }, "redirect_uri_mismatch"],
  ])("400 with another %s, which makes it void", async (_, changes, code) => {
    const email = somebody();
    const id = await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    expect((await side.redeem(signedOn, changes)).code).toBe(code);
    expect((await side.redeem(signedOn)).code).toBe("code_invalid");
    expect(await statusOf(id)).toBe("invited");
  });

  test("400 the second time; in a way that no retry explains, the token of the first is revoked", async () => {
    const email = somebody();
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    const { access_token } = (await side.redeem(signedOn)).body;
    expect((await side.redeem(signedOn)).code).toBe("code_already_used");
    expect((await side.call(access_token, getMe)).status).toBe(200);
    // What tells another process that it must ask anew.
    const revision = () =>
      f.latchkey.storage.db
        .selectFrom("stores")
        .select("revision")
        .where("id", "=", f.store.store.id)
        .executeTakeFirstOrThrow();
    const before = await revision();
    expect((await side.redeem(signedOn, { code_verifier: "v".repeat(43) })).code).toBe("code_already_used");
    expect((await side.call(access_token, getMe)).code).toBe("token_invalid");
    expect((await revision()).revision).toBeGreaterThan(before.revision);
    // Once more takes nothing back that was not taken, and is not told again.
    expect((await side.redeem(signedOn, { code_verifier: "v".repeat(43) })).code).toBe("code_already_used");
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: "types=sign_on.code_replayed" });
    expect(body.data).toHaveLength(1);
    // Swept, and not in memory any more: the token has not expired, so it is still known to be revoked.
    f.latchkey.clock.advance(61_000);
    await f.latchkey.app.tidy();
    await side.invite(somebody(), "viewer");
    expect((await side.call(access_token, getMe)).code).toBe("token_invalid");
  });

  test("400 for a code that expired, for another client id, and for what is missing", async () => {
    const email = somebody();
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    expect((await side.redeem(signedOn, { client_id: "customers" })).code).toBe("members_client_unknown");
    expect((await side.redeem(signedOn, { client_id: f.store.key.clientId })).code).toBe(
      "members_client_unknown",
    );
    expect((await side.redeem(signedOn, { scope: "everything" })).code).toBe("scope_unknown");
    expect((await side.redeem(signedOn, { code: "" })).code).toBe("member_invalid");
    expect((await side.redeem(signedOn, { code: "lkac_x" })).code).toBe("code_invalid");
    expect((await side.redeem(signedOn, { code_verifier: "short" })).code).toBe("member_invalid");
    const bare = await call(f.latchkey.app, issueAccessToken, {
      form: { grant_type: "authorization_code", client_id: "members" },
    });
    expect(bare.codes).toEqual(["member_missing", "member_missing", "member_missing"]);
    f.latchkey.clock.advance(61_000);
    expect((await side.redeem(signedOn)).code).toBe("code_expired");
  });

  test("200 with the client id by Basic, as at every OAuth endpoint; 400 for another one beside it, and the code lives on", async () => {
    const email = somebody();
    await side.invite(email, "viewer");
    const { code, pkce } = await side.signOn({ sub: `of ${email}`, email });
    const redeem = (more: object) =>
      call(f.latchkey.app, issueAccessToken, {
        form: {
          grant_type: "authorization_code",
          code,
          redirect_uri: CONSOLE,
          code_verifier: pkce.verifier,
          ...more,
        },
        headers: { authorization: `Basic ${btoa("members:")}` },
      });
    expect((await redeem({ client_id: "customers" })).code).toBe("client_authenticated_twice");
    expect((await redeem({})).body.identifier).toBe("member");
  });

  test("whoever was removed, or unbound from their profile, between sign-on and exchange gets nothing", async () => {
    const email = somebody();
    const id = await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    await f.store.call(deleteMember, { ids: { id } });
    const answer = await side.redeem(signedOn);
    expect([answer.code, answer.body.errors[0].meta.reason]).toEqual(["sign_on_refused", "member_unknown"]);
  });

  test("whoever was removed meanwhile does not become another by an address that the provider has not verified (A02)", async () => {
    const [email, victim] = [somebody(), somebody()];
    const token = await side.token(email, "viewer");
    const { id } = (await side.call(token, getMe)).body.data;
    const invited = await side.invite(victim, "administrator");
    const person = { sub: `subject of ${email}`, email: victim, email_verified: false };
    const signedOn = await side.signOn(person);
    await f.store.call(deleteMember, { ids: { id } });
    const { code, body } = await side.redeem(signedOn);
    expect([code, body.errors[0].meta.reason]).toEqual(["sign_on_refused", "member_email_unverified"]);
    expect(await statusOf(invited)).toBe("invited");
  });
});

describe("who somebody is", () => {
  test("is decided among the members of one's own store: whom another has invited is nobody here, and stays invited there (A33)", async () => {
    const other = { ...f, store: await f.latchkey.createStore(10_000) };
    const theirs = await createMembersSide(other);
    const [email, foreign] = [somebody(), somebody()];
    const [here, there] = [
      await side.invite(email, "viewer"),
      await theirs.invite(email, "administrator"),
      await theirs.invite(foreign, "administrator"),
    ];
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    const me = await side.call((await side.redeem(signedOn)).body.access_token, getMe);
    expect(me.body.data).toMatchObject({ id: here, role: "viewer" });
    const { meta } = (await other.store.call(getMember, { ids: { id: there } })).body.data;
    expect(meta.status).toBe("invited");
    const stranger = await side.signOn({ sub: `of ${foreign}`, email: foreign });
    expect([stranger.error, await reasonOf(stranger.reference)]).toEqual(["access_denied", "member_unknown"]);
  });

  test("goes by the profile, too: of two tabs through two profiles of one provider, the second is refused (A04)", async () => {
    const email = somebody();
    await side.invite(email, "viewer");
    const person = { sub: `of ${email}`, email };
    const id = await addProfile();
    const [first, second] = [await side.signOn(person), await side.signOn(person, { profile: id })];
    expect((await side.redeem(first)).status).toBe(200);
    const late = await side.redeem(second);
    expect([late.code, late.body.errors[0].meta.reason]).toEqual(["sign_on_refused", "member_bound"]);
    await f.store.call(deleteProfile, { ids: { realm: side.realmId, id } });
  });

  test("goes by the issuer, too: where the profile was pointed elsewhere, the same subject is somebody else (A04)", async () => {
    const moved = await createFederation();
    const members = await createMembersSide(moved);
    await members.token("chief@shop.example", "administrator");
    const sub = "subject of chief@shop.example";
    moved.idp.issuer = `${moved.idp.origin}/`;
    const data = {
      type: "oidc-profile",
      discovery_url: moved.idp.issuer,
      client_secret: moved.idp.clientSecrets[0],
      adopt_identities_of: null,
    };
    const ids = { realm: members.realmId, id: members.profileId };
    expect((await moved.store.call(updateProfile, { ids, json: { data } })).status).toBe(200);
    const email = "clerk@shop.example";
    const clerk = await members.invite(email, "viewer");
    expect((await members.signOn({ sub, email, email_verified: false })).error).toBe("access_denied");
    const signedOn = await members.signOn({ sub, email, email_verified: true });
    const me = await members.call((await members.redeem(signedOn)).body.access_token, getMe);
    expect(me.body.data).toMatchObject({ id: clerk, role: "viewer" });
    await moved.close();
  });
});

describe("the members' realm", () => {
  const realmData = (data: object) => ({ json: { data: { type: "authentication-realm", ...data } } });

  test("at another public address lets members come back there once that is registered; customer tokens of the old address are over (docs/upgrade.md)", async () => {
    const { storage, clock, keyring } = f.latchkey;
    const publicUrl = "https://moved.example";
    const allowedOrigins = [f.idp.origin];
    const moved = await createTestApp({ storage, clock, keyring, publicUrl, allowedOrigins });
    const redirectUri = `${publicUrl}/console/signed-in`;
    const asked = { profile: side.profileId, client_id: "members", redirect_uri: redirectUri };
    const begin = () =>
      call(moved.app, authorize, {
        ids: { store: f.store.store.id, realm: side.realmId },
        query: new URLSearchParams(f.parameters(asked)).toString(),
      });
    expect((await begin()).status).toBe(400);
    const ids = { id: side.realmId };
    await f.store.call(updateRealm, { ids, ...realmData({ redirect_uris: [CONSOLE, redirectUri] }) });
    const begun = await begin();
    const atIdp = new URL(begun.headers.get("location") ?? "");
    expect([begun.status, atIdp.searchParams.get("redirect_uri")]).toEqual([
      303,
      expect.stringContaining(`${publicUrl}/sign-on/`),
    ]);
    await f.store.call(updateRealm, { ids, ...realmData({ redirect_uris: [CONSOLE] }) });
    const { token, customer_id: id } = (await f.redeem(await f.signOn())).body.data;
    const own = { token: f.implicit, ids: { id }, headers: { "x-customer-token": token } };
    expect((await call(f.latchkey.app, getCustomer, own)).status).toBe(200);
    const refused = await call(moved.app, getCustomer, own);
    expect([refused.status, refused.code]).toEqual([403, "customer_token_invalid"]);
    await moved.app.stop();
  });

  test("sends people back to the console, and has its purpose for good", async () => {
    const ids = { id: side.realmId };
    const { body } = await f.store.call(getRealm, { ids });
    expect([body.data.purpose, body.data.redirect_uris]).toEqual([
      "members",
      [`${PUBLIC_URL}/console/signed-in`],
    ]);
    const changed = await f.store.call(updateRealm, { ids, ...realmData({ purpose: "customers" }) });
    expect([changed.status, changed.code]).toEqual([409, "realm_purpose_fixed"]);
    const same = await f.store.call(updateRealm, { ids, ...realmData({ purpose: "members", name: "Team" }) });
    expect([same.status, same.body.data.name]).toEqual([200, "Team"]);
  });

  test("409 for a second one, also when two are made at once", async () => {
    const second = await f.store.call(createRealm, realmData({ name: "Second", purpose: "members" }));
    expect([second.status, second.code]).toEqual([409, "members_realm_exists"]);
    const other = await f.latchkey.createStore();
    const both = await Promise.all(
      ["a", "b"].map((name) => other.call(createRealm, realmData({ name, purpose: "members" }))),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test("is not named by the customer authentication settings", async () => {
    const json = { data: { type: "customer-authentication-settings", realm_id: side.realmId } };
    expect((await f.store.call(updateAuthenticationSettings, { json })).code).toBe("realm_unknown");
    expect((await f.store.call(getAuthenticationSettings)).body.data.realm_id).toBe(f.realmId);
  });

  test("is not in what implicit tokens read, nor an OpenID provider", async () => {
    const token = f.implicit;
    const ids = { id: side.realmId };
    const list = await call(f.latchkey.app, listRealms, { token });
    expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([f.realmId]);
    expect(list.body.meta.results.total).toBe(1);
    expect((await f.store.call(listRealms)).body.meta.results.total).toBe(2);
    const hidden = await Promise.all([
      call(f.latchkey.app, getRealm, { token, ids }),
      call(f.latchkey.app, listProfiles, { token, ids: { realm: side.realmId } }),
      call(f.latchkey.app, getProfile, { token, ids: { realm: side.realmId, id: side.profileId } }),
      call(f.latchkey.app, realmMetadata, { ids: { store: f.store.store.id, realm: side.realmId } }),
    ]);
    expect(hidden.map(({ status, code }) => [status, code])).toEqual(
      Array.from(hidden, () => [404, "realm_not_found"]),
    );
    expect((await f.store.call(listProfiles, { ids: { realm: side.realmId } })).body.data).toHaveLength(1);
  });

  test("422 for a direct profile", async () => {
    const json = { data: { type: "oidc-profile", flow: "direct" } };
    const ids = { realm: side.realmId, id: side.profileId };
    const answer = await f.store.call(updateProfile, { ids, json });
    expect([answer.status, answer.code]).toEqual([422, "members_profile_direct"]);
    const fresh = {
      ...json.data,
      name: "Direct",
      discovery_url: f.idp.discoveryUrl,
      client_id: f.idp.clientId,
      client_secret: f.idp.clientSecrets[0],
    };
    const made = await f.store.call(createProfile, { ids: { realm: side.realmId }, json: { data: fresh } });
    expect([made.status, made.code]).toEqual([422, "members_profile_direct"]);
  });
});

describe("a member's access token", () => {
  test.each(ROLES)("may do what the role %s may, over the whole contract", async (role) => {
    const token = await side.token(somebody(), role);
    const UNKNOWN = "01890000-0000-7000-8000-000000000000";
    for (const operation of operations) {
      if (typeof operation.access === "string") continue;
      f.latchkey.clock.advance(50);
      const ids = Object.fromEntries(Object.keys(operation.ids ?? {}).map((name) => [name, UNKNOWN]));
      const broken = operation.body && { raw: "{", headers: { "content-type": "application/json" } };
      const { code } = await call(f.latchkey.app, operation, { ids, token, ...broken });
      if (!isPermitted("member", operation.access)) expect(code, operation.id).toBe("not_permitted");
      else if (mayActAs(role, operation.role))
        expect(["role_insufficient", "not_permitted"], operation.id).not.toContain(code);
      else expect(code, operation.id).toBe("role_insufficient");
    }
  });

  test("is no customer token, and a customer token no access token", async () => {
    const token = await side.token(somebody(), "administrator");
    const shopper = (await f.redeem(await f.signOn())).body.data;
    const ids = { id: shopper.customer_id };
    const asCustomer = await call(f.latchkey.app, getCustomer, {
      token: f.implicit,
      headers: { "x-customer-token": token },
      ids,
    });
    expect([asCustomer.status, asCustomer.code]).toEqual([403, "customer_token_invalid"]);
    expect((await call(f.latchkey.app, getMe, { token: shopper.token })).code).toBe("token_invalid");
    expect((await call(f.latchkey.app, getMe, { token: f.implicit })).code).toBe("not_permitted");
    expect((await side.call(token, checkAtGateway)).code).toBe("not_permitted");
  });

  test("acts under the member's own id, also with a customer token beside it", async () => {
    const email = somebody();
    const token = await side.token(email, "administrator");
    const shopper = (await f.redeem(await f.signOn())).body.data;
    const change = (customerToken: string) =>
      side.call(token, updateCustomer, {
        ids: { id: shopper.customer_id },
        json: { data: { type: "customer", name: "By a member" } },
        headers: { "x-customer-token": customerToken },
      });
    expect((await change("nonsense")).status).toBe(200);
    expect((await change(shopper.token)).status).toBe(200);
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: `filter=eq(subject,${shopper.customer_id})` });
    expect(body.data.at(-1).data.actor).toEqual({ type: "member", id: expect.any(String), name: null });
  });

  test("dies with its member, and follows the member's role", async () => {
    const email = somebody();
    const token = await side.token(email, "administrator");
    const { id } = (await side.call(token, getMe)).body.data;
    const give = (role: string) =>
      f.store.call(updateMember, { ids: { id }, json: { data: { type: "member", role } } });
    const write = () => side.call(token, updateStore, { json: { data: { type: "store", name: "n" } } });
    expect((await write()).status).toBe(200);
    await give("support");
    expect((await write()).code).toBe("role_insufficient");
    await give("administrator");
    expect((await write()).status).toBe(200);
    await f.store.call(deleteMember, { ids: { id } });
    expect((await write()).code).toBe("token_invalid");
    await side.invite(email, "administrator");
    expect((await write()).code).toBe("token_invalid");
  });

  test("dies with the profile that its member signed in through", async () => {
    const ids = { realm: side.realmId };
    const second = await addProfile();
    const email = somebody();
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email }, { profile: second });
    const { access_token } = (await side.redeem(signedOn)).body;
    expect((await side.call(access_token, getMe)).status).toBe(200);
    await f.store.call(deleteProfile, { ids: { ...ids, id: second } });
    expect((await side.call(access_token, getMe)).code).toBe("token_invalid");
    const elsewhere = await side.signOn({ sub: `of ${email}`, email });
    expect(await reasonOf(elsewhere.reference)).toBe("member_bound");
  });

  test("can be asked about by the store's programs", async () => {
    const token = await side.token(somebody(), "viewer");
    const { clientId: client_id, clientSecret: client_secret } = f.store.key;
    const { body } = await call(f.latchkey.app, introspectToken, {
      form: { token, client_id, client_secret },
    });
    const { data } = (await side.call(token, getMe)).body;
    expect(body).toMatchObject({ active: true, identifier: "member", client_id: "members", sub: data.id });
    const other = await f.latchkey.createStore();
    const foreign = { client_id: other.key.clientId, client_secret: other.key.clientSecret };
    const asked = await call(f.latchkey.app, introspectToken, { form: { token, ...foreign } });
    expect(asked.body).toEqual({ active: false });
  });
});

test("a member's token is good for an hour", async () => {
  const short = await createFederation({ idp: f.idp });
  f.idp.now = short.latchkey.clock.now;
  const members = await createMembersSide(short);
  const token = await members.token(somebody(), "viewer");
  short.latchkey.clock.advance(3_599_000);
  expect((await members.call(token, getMe)).status).toBe(200);
  short.latchkey.clock.advance(1_000);
  expect((await members.call(token, getMe)).code).toBe("token_invalid");
  await short.close();
  f.idp.now = f.latchkey.clock.now;
});

test("a member's token of a store that was deleted is dead, and so is a code of before", async () => {
  const doomed = await createFederation({ idp: f.idp });
  doomed.idp.now = doomed.latchkey.clock.now;
  const members = await createMembersSide(doomed);
  const token = await members.token("last@shop.example", "administrator");
  const signedOn = await members.signOn();
  expect((await members.call(token, getStore)).status).toBe(200);
  await deleteStore(doomed.latchkey, doomed.store.store.id);
  expect((await members.call(token, getStore)).code).toBe("token_invalid");
  expect((await members.redeem(signedOn)).code).toBe("code_invalid");
  await doomed.close();
  f.idp.now = f.latchkey.clock.now;
});
