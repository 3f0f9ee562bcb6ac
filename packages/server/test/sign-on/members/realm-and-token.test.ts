import { describe, expect, test } from "vitest";
import { introspectToken } from "../../../src/contract/access-tokens.ts";
import { getCustomer, updateCustomer } from "../../../src/contract/customers.ts";
import { listEvents } from "../../../src/contract/events.ts";
import { checkAtGateway } from "../../../src/contract/gateway.ts";
import { deleteMember, getMe, updateMember } from "../../../src/contract/members.ts";
import {
  createProfile,
  deleteProfile,
  getProfile,
  listProfiles,
  updateProfile,
} from "../../../src/contract/oidc-profiles.ts";
import { operations } from "../../../src/contract/operations.ts";
import { isPermitted } from "../../../src/contract/permissions.ts";
import {
  createRealm,
  getAuthenticationSettings,
  getRealm,
  listRealms,
  updateAuthenticationSettings,
  updateRealm,
} from "../../../src/contract/realms.ts";
import { mayActAs, ROLES } from "../../../src/contract/roles.ts";
import { authorize, realmMetadata } from "../../../src/contract/sign-on.ts";
import { getStore, updateStore } from "../../../src/contract/store.ts";
import { deleteStore } from "../../../src/delete-store.ts";
import { createTestApp, PUBLIC_URL } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { createFederation } from "../../support/federation.ts";
import { CONSOLE, createMembersSide } from "../../support/members.ts";
import { addProfile, f, membersAtTheConsole, newEmail, reasonOf, side } from "./console.ts";

/** The members' realm, and the access tokens of members. */

membersAtTheConsole();

describe("the members' realm", () => {
  const realmData = (data: object) => ({ json: { data: { type: "authentication-realm", ...data } } });

  test("after a move of the public URL: members return to a registered redirect URI; old customer tokens are refused", async () => {
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

  test("has the console's redirect URI; its purpose cannot be changed", async () => {
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

  test("422 as the realm of the customer authentication settings", async () => {
    const json = { data: { type: "customer-authentication-settings", realm_id: side.realmId } };
    expect((await f.store.call(updateAuthenticationSettings, { json })).code).toBe("realm_unknown");
    expect((await f.store.call(getAuthenticationSettings)).body.data.realm_id).toBe(f.realmId);
  });

  test("is hidden from implicit tokens and is no OpenID provider", async () => {
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
  test.each(ROLES)(
    "with the role %s is permitted what the contract says, for every operation",
    async (role) => {
      const token = await side.token(newEmail(), role);
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
    },
  );

  test("is no customer token, and a customer token is no access token", async () => {
    const token = await side.token(newEmail(), "administrator");
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

  test("acts as the member, also with a customer token beside it", async () => {
    const email = newEmail();
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

  test("has the member's current role, and ends when the member is removed", async () => {
    const email = newEmail();
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

  test("ends with the profile that the member signed in through", async () => {
    const ids = { realm: side.realmId };
    const second = await addProfile();
    const email = newEmail();
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email }, { profile: second });
    const { access_token } = (await side.redeem(signedOn)).body;
    expect((await side.call(access_token, getMe)).status).toBe(200);
    await f.store.call(deleteProfile, { ids: { ...ids, id: second } });
    expect((await side.call(access_token, getMe)).code).toBe("token_invalid");
    const elsewhere = await side.signOn({ sub: `of ${email}`, email });
    expect(await reasonOf(elsewhere.reference)).toBe("member_bound");
  });

  test("can be introspected by the store's own programs", async () => {
    const token = await side.token(newEmail(), "viewer");
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

test("a member's access token › expires after an hour", async () => {
  const short = await createFederation({ idp: f.idp });
  f.idp.now = short.latchkey.clock.now;
  const members = await createMembersSide(short);
  const token = await members.token(newEmail(), "viewer");
  short.latchkey.clock.advance(3_599_000);
  expect((await members.call(token, getMe)).status).toBe(200);
  short.latchkey.clock.advance(1_000);
  expect((await members.call(token, getMe)).code).toBe("token_invalid");
  await short.close();
  f.idp.now = f.latchkey.clock.now;
});

test("a deleted store › its members' tokens and open codes are refused", async () => {
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
