import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { introspectToken, revokeToken } from "../../src/contract/access-tokens.ts";
import { createApplicationKey } from "../../src/contract/application-keys.ts";
import { listEvents } from "../../src/contract/events.ts";
import {
  createMember,
  deleteMember,
  getMe,
  getMember,
  listMembers,
  updateMember,
} from "../../src/contract/members.ts";
import { createProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { createTestApp, getToken, PUBLIC_URL } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type Engine, engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { createMembersSide, type MembersSide } from "../support/members.ts";
import { until, untilServed } from "../support/until.ts";

describe.each(engines.map((engine) => [engine.name, engine] as const))(
  "members on %s",
  (_, engine: Engine) => {
    let database: TestDatabase;
    let f: Federation;
    let side: MembersSide;
    let people = 0;
    const newEmail = () => `person-${++people}@shop.example`;

    beforeAll(async () => {
      if (!engine.isHere) return;
      database = await engine.create();
      f = await createFederation({ databaseUrl: database.url });
      side = await createMembersSide(f);
    });
    beforeEach(({ skip }) => {
      if (!engine.isHere) skip("this engine is not installed");
      f.latchkey.clock.advance(2000);
    });
    afterAll(async () => {
      if (!engine.isHere) return;
      await f.close();
      await database.drop();
    });

    const member = (data: object) => ({ json: { data: { type: "member", ...data } } });
    const change = (id: string, data: object) => f.store.call(updateMember, { ids: { id }, ...member(data) });
    const eventsOf = async (id: string) => {
      await f.latchkey.app.tidy();
      const { body } = await f.store.call(listEvents, { query: `filter=eq(subject,${id})` });
      return body.data;
    };

    test("a member's token can be revoked with the token alone; the client id `members` revokes no other token (RFC 7009 2.1)", async () => {
      const [mine, hers] = [
        await side.token(newEmail(), "viewer"),
        await side.token(newEmail(), "administrator"),
      ];
      const keys = await f.store.token();
      const revoke = (token: string, more: object = {}) =>
        call(f.latchkey.app, revokeToken, { form: { client_id: "members", token, ...more } });
      const statuses = () =>
        Promise.all(
          [mine, hers, keys].map(async (token) => (await call(f.latchkey.app, getMe, { token })).status),
        );
      for (const token of [keys, "nonsense", f.implicit]) expect((await revoke(token)).status).toBe(200);
      expect((await revoke(mine, { client_secret: "x" })).code).toBe("client_id_mistyped");
      expect(await statuses()).toEqual([200, 200, 200]);
      for (let i = 0; i < 2; i++) expect((await revoke(mine)).status).toBe(200);
      expect(await statuses()).toEqual([401, 200, 200]);
    });

    test("a program of the store can introspect a member's token", async () => {
      const token = await side.token(newEmail(), "viewer");
      const { body: me } = await call(f.latchkey.app, getMe, { token });
      const { clientId, clientSecret } = f.store.key;
      const form = { token, client_id: clientId, client_secret: clientSecret };
      expect((await call(f.latchkey.app, introspectToken, { form })).body).toMatchObject({
        active: true,
        client_id: "members",
        sub: me.data.id,
        identifier: "member",
      });
    });

    test("201, 200, 200 and 204: a member is invited, read, changed and removed, with an event each", async () => {
      const email = newEmail();
      const made = await f.store.call(createMember, member({ email, role: "support" }));
      expect(made.status).toBe(201);
      const { id } = made.body.data;
      const at = new Date(f.latchkey.clock.now()).toISOString();
      expect(made.body).toEqual({
        data: {
          id,
          type: "member",
          name: email,
          email,
          role: "support",
          meta: {
            status: "invited",
            last_signed_in_at: null,
            timestamps: { created_at: at, updated_at: at },
          },
        },
        links: { self: `${PUBLIC_URL}/v2/members/${id}` },
      });
      expect((await f.store.call(getMember, { ids: { id } })).body).toEqual(made.body);
      expect((await change(id, { name: "Bea", role: "viewer" })).body.data).toMatchObject({
        name: "Bea",
        email,
        role: "viewer",
      });
      const listed = await f.store.call(listMembers, { query: "page[limit]=100" });
      expect(listed.body.data.map((one: { id: string }) => one.id)).toContain(id);
      expect((await f.store.call(deleteMember, { ids: { id } })).status).toBe(204);
      expect((await f.store.call(getMember, { ids: { id } })).code).toBe("member_not_found");
      const [created, updated, deleted] = await eventsOf(id);
      expect([created.type, updated.type, deleted.type]).toEqual([
        "member.created",
        "member.updated",
        "member.deleted",
      ]);
      expect(updated.data.changes).toEqual({
        name: { before: email, after: "Bea" },
        role: { before: "support", after: "viewer" },
      });
      expect(deleted.data.resource).toEqual({ type: "member", id });
    });

    test("200 without an event for a change without effect", async () => {
      const id = await side.invite(newEmail(), "support", { name: "Sue" });
      expect((await change(id, { name: "Sue", role: "support" })).status).toBe(200);
      expect((await eventsOf(id)).map(({ type }: { type: string }) => type)).toEqual(["member.created"]);
    });

    test("the first sign-on notes an event with the member as actor", async () => {
      const email = newEmail();
      const token = await side.token(email, "viewer");
      const { id } = (await side.call(token, getMe)).body.data;
      const [, bound, ...others] = await eventsOf(id);
      expect(others).toEqual([]);
      expect([bound.type, bound.data.actor]).toEqual(["member.updated", { type: "member", id, name: email }]);
      expect(bound.data.changes).toEqual({ status: { before: "invited", after: "active" } });
    });

    test("409 for an e-mail of another member, in any case; another store may invite it", async () => {
      const email = newEmail();
      const id = await side.invite(email, "viewer");
      const again = await f.store.call(createMember, member({ email: email.toUpperCase(), role: "viewer" }));
      expect([again.status, again.code, again.body.errors[0].source]).toEqual([
        409,
        "member_exists",
        { pointer: "/data/email" },
      ]);
      const second = await side.invite(newEmail(), "viewer");
      expect((await change(second, { email })).code).toBe("member_exists");
      expect((await change(id, { email: email.toUpperCase() })).status).toBe(200);
      const both = await Promise.all(
        [1, 2].map(() =>
          untilServed(() =>
            f.store.call(createMember, member({ email: "twin@shop.example", role: "viewer" })),
          ),
        ),
      );
      expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
      const other = await f.latchkey.createStore();
      expect((await other.call(createMember, member({ email, role: "viewer" }))).status).toBe(201);
      for (const operation of [getMember, deleteMember])
        expect((await other.call(operation, { ids: { id } })).code).toBe("member_not_found");
      expect((await other.call(updateMember, { ids: { id }, ...member({ name: "n" }) })).code).toBe(
        "member_not_found",
      );
    });

    test("409 for another member's id in the body", async () => {
      const id = await side.invite(newEmail(), "viewer");
      const other = await side.invite(newEmail(), "viewer");
      expect((await change(id, { id: other, name: "n" })).code).toBe("id_mismatch");
    });

    test("400 without a role, for an unknown role and for a malformed e-mail", async () => {
      const email = newEmail();
      expect((await f.store.call(createMember, member({ email }))).code).toBe("member_missing");
      expect((await f.store.call(createMember, member({ email, role: "owner" }))).code).toBe(
        "member_invalid",
      );
      expect((await f.store.call(createMember, member({ email: "a@b,c@d", role: "viewer" }))).code).toBe(
        "member_invalid",
      );
    });

    describe("the last administrator", () => {
      let own: Federation;
      let ownSide: MembersSide;

      beforeAll(async () => {
        if (!engine.isHere) return;
        own = { ...f, store: await f.latchkey.createStore(10_000) };
        ownSide = await createMembersSide(own);
      });

      const as = (token: string) => ({
        remove: (id: string) => ownSide.call(token, deleteMember, { ids: { id } }),
        demote: (id: string, role = "support") =>
          ownSide.call(token, updateMember, { ids: { id }, ...member({ role }) }),
      });
      const idOf = async (token: string) => (await ownSide.call(token, getMe)).body.data.id;

      test("409 when a member would remove or demote the last one, or themselves; a new name is fine", async () => {
        const ada = await ownSide.token("ada@shop.example", "administrator");
        const id = await idOf(ada);
        await ownSide.invite("sue@shop.example", "support");
        // Another store's administrator does not count (A33).
        await side.invite(newEmail(), "administrator");
        for (const answer of [await as(ada).remove(id), await as(ada).demote(id)])
          expect([answer.status, answer.code]).toEqual([409, "last_administrator"]);
        const renamed = await ownSide.call(ada, updateMember, { ids: { id }, ...member({ name: "Ada" }) });
        expect(renamed.status).toBe(200);
        expect((await as(ada).demote(id, "administrator")).status).toBe(200);
      });

      test("may be demoted while another one is invited or can sign in; a disabled provider does not count", async () => {
        const bea = await ownSide.token("bea@shop.example", "administrator");
        const id = await idOf(bea);
        expect((await as(bea).demote(id)).status).toBe(200);
        expect((await as(bea).demote(id, "administrator")).code).toBe("role_insufficient");
        const back = { ids: { id }, ...member({ role: "administrator" }) };
        await own.store.call(updateMember, back);
        const profile = {
          type: "oidc-profile",
          name: "Another",
          discovery_url: own.idp.discoveryUrl,
          client_id: own.idp.clientId,
          client_secret: own.idp.clientSecrets[0],
        };
        const realm = ownSide.realmId;
        const another = await own.store.call(createProfile, { ids: { realm }, json: { data: profile } });
        const ids = { realm, id: another.body.data.id };
        await ownSide.invite("ann@shop.example", "administrator");
        const ann = { sub: "Ann's subject", email: "ann@shop.example", email_verified: true };
        const signedOn = await ownSide.signOn(ann, { profile: ids.id });
        const annId = await idOf((await ownSide.redeem(signedOn)).body.access_token);
        for (const other of (await own.store.call(listMembers)).body.data)
          if (![id, annId].includes(other.id)) await own.store.call(deleteMember, { ids: { id: other.id } });
        const disabled = { json: { data: { type: "oidc-profile", enabled: false } } };
        expect((await own.store.call(updateProfile, { ids, ...disabled })).status).toBe(200);
        expect((await as(bea).remove(id)).code).toBe("last_administrator");
        // A member who is no administrator can be removed.
        const helper = await ownSide.invite("dan@shop.example", "support");
        expect((await as(bea).remove(helper)).status).toBe(204);
        const invited = await ownSide.invite("carl@shop.example", "administrator");
        expect((await as(bea).demote(id)).status).toBe(200);
        for (const gone of [invited, annId]) await own.store.call(deleteMember, { ids: { id: gone } });
        await own.store.call(updateMember, back);
      });

      test("may be demoted while another one's identity was carried over; one that was left behind does not count", async () => {
        const moved = await createFederation({ databaseUrl: database.url });
        const its = await createMembersSide(moved);
        const move = async (issuer: string, choice: object) => {
          moved.idp.issuer = issuer;
          const data = {
            type: "oidc-profile",
            discovery_url: issuer,
            client_secret: moved.idp.clientSecrets[0],
          };
          const ids = { realm: its.realmId, id: its.profileId };
          const json = { data: { ...data, ...choice } };
          expect((await moved.store.call(updateProfile, { ids, json })).status).toBe(200);
        };
        const demoteSelf = async (token: string) => {
          const { id } = (await its.call(token, getMe)).body.data;
          const answer = await its.call(token, updateMember, { ids: { id }, ...member({ role: "support" }) });
          await moved.store.call(updateMember, { ids: { id }, ...member({ role: "administrator" }) });
          return answer;
        };
        const ada = await its.token("ada@shop.example", "administrator");
        const carried = { adopt_identities_of: its.profileId, confirm: "Work accounts" };
        await move(`${moved.idp.origin}/`, carried);
        const bea = await its.token("bea@shop.example", "administrator");
        expect((await demoteSelf(bea)).status).toBe(200);
        await move(moved.idp.origin, { adopt_identities_of: null });
        expect((await demoteSelf(ada)).code).toBe("last_administrator");
        await moved.close();
      });

      test("two who remove each other at once: one stays", async () => {
        for (let round = 0; round < 5; round++) {
          own.latchkey.clock.advance(2000);
          const { body } = await own.store.call(listMembers);
          for (const { id } of body.data) await own.store.call(deleteMember, { ids: { id } });
          const tokens = [];
          for (const name of ["x", "y"])
            tokens.push(await ownSide.token(`${name}${round}@shop.example`, "administrator"));
          const [x = "", y = ""] = tokens;
          const [xId, yId] = [await idOf(x), await idOf(y)];
          const answers = await Promise.all([
            untilServed(() => as(x).remove(yId)),
            untilServed(() => as(y).remove(xId)),
          ]);
          const left = (await own.store.call(listMembers)).body.data;
          expect(left.length, JSON.stringify(answers.map(({ status, code }) => [status, code]))).toBe(1);
        }
      });

      test("204 for a key with the role administrator, 403 for any other", async () => {
        const [{ id }] = (await own.store.call(listMembers)).body.data;
        const json = { data: { type: "application_key", name: "Support", role: "support" } };
        const made = (await own.store.call(createApplicationKey, { json })).body.data;
        const key = { id: made.id, clientId: made.client_id, clientSecret: made.client_secret };
        const token = await getToken(own.latchkey.app, { ...own.store, key }, "client_credentials");
        expect((await call(own.latchkey.app, deleteMember, { ids: { id }, token })).code).toBe(
          "role_insufficient",
        );
        expect((await own.store.call(deleteMember, { ids: { id } })).status).toBe(204);
        expect((await own.store.call(listMembers)).body.data).toEqual([]);
      });
    });

    test("a role and a removal count on another instance within a second", async () => {
      const there = await createTestApp({
        clock: f.latchkey.clock,
        databaseUrl: database.url,
        keyring: f.latchkey.keyring,
      });
      const token = await side.token(newEmail(), "administrator");
      const ask = () => call(there.app, listMembers, { token });
      const { id } = (await side.call(token, getMe)).body.data;
      expect((await ask()).status).toBe(200);
      await change(id, { role: "support" });
      await until(async () => (await ask()).code === "role_insufficient");
      await change(id, { role: "administrator" });
      await until(async () => (await ask()).status === 200);
      await f.store.call(deleteMember, { ids: { id } });
      await until(async () => (await ask()).code === "token_invalid");
      await there.close();
    });

    test("two tabs that sign in for the first time at once are one member", async () => {
      const email = newEmail();
      await side.invite(email, "viewer");
      const person = { sub: `tabs of ${email}`, email };
      const tabs = [await side.signOn(person), await side.signOn(person)];
      const answers = await Promise.all(tabs.map((tab) => untilServed(() => side.redeem(tab))));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    });

    test("two subjects that sign in as one member at once: one is bound, the other is refused", async () => {
      const email = newEmail();
      await side.invite(email, "viewer");
      const [first, second] = [
        await side.signOn({ sub: `first of ${email}`, email }),
        await side.signOn({ sub: `second of ${email}`, email }),
      ];
      const answers = await Promise.all([first, second].map((one) => untilServed(() => side.redeem(one))));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const refused = answers.find(({ status }) => status === 400);
      expect(refused?.body.errors[0].meta.reason).toBe("member_bound");
    });

    test("409 for a provider with a new issuer; its members are carried over by subject, or left behind and refused", async () => {
      const own = await createFederation({ databaseUrl: database.url });
      const its = await createMembersSide(own);
      const [email, name] = [newEmail(), "Work accounts"];
      const person = { sub: `subject of ${email}`, email, email_verified: true };
      const { id } = (await its.call(await its.token(email, "administrator"), getMe)).body.data;
      const signIn = async () => {
        own.latchkey.clock.advance(1000);
        const { body } = await its.redeem(await its.signOn(person));
        return (await its.call(body.access_token, getMe)).body.data?.id;
      };
      const move = async (issuer: string, choice: object = {}) => {
        own.idp.issuer = issuer;
        const data = { type: "oidc-profile", discovery_url: issuer, client_secret: own.idp.clientSecrets[0] };
        return own.store.call(updateProfile, {
          ids: { realm: its.realmId, id: its.profileId },
          json: { data: { ...data, ...choice } },
        });
      };
      const elsewhere = `${own.idp.origin}/`;
      const asked = await move(elsewhere);
      expect([asked.status, asked.code]).toEqual([409, "identities_left_behind"]);
      expect(asked.body.errors[0].meta.identities).toBe(1);
      expect((await move(elsewhere, { adopt_identities_of: its.profileId, confirm: name })).status).toBe(200);
      expect(await signIn()).toBe(id);
      const other = await its.signOn({ ...person, sub: "newEmail else" });
      expect(other.returned.get("reason")).toBe("member_bound");
      expect((await move(own.idp.origin, { adopt_identities_of: null })).status).toBe(200);
      expect(await signIn()).toBe(id);
      expect((await move(elsewhere, { adopt_identities_of: null })).status).toBe(200);
      expect((await its.signOn(person)).returned.get("reason")).toBe("member_bound");
      await own.close();
    });
  },
);

test("GET /v2/me › 200 with an application key's name and role", async () => {
  const latchkey = await createTestApp();
  const store = await latchkey.createStore();
  const { body } = await store.call(getMe);
  expect(body).toEqual({
    data: {
      id: store.key.id,
      type: "caller",
      kind: "application_key",
      name: "First key",
      role: "administrator",
      store: { id: store.store.id, name: "Test store" },
    },
    links: { self: `${PUBLIC_URL}/v2/me` },
  });
  await latchkey.close();
});
