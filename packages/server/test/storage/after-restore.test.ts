import { decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "../../src/application-keys/administer.ts";
import { rotateSecret } from "../../src/application-keys/secret.ts";
import { introspectToken, issueAccessToken } from "../../src/contract/access-tokens.ts";
import { createCustomer, getCustomer } from "../../src/contract/customers.ts";
import { jwks } from "../../src/contract/sign-on.ts";
import { getStore } from "../../src/contract/store.ts";
import { byOperator } from "../../src/events/event.ts";
import { createMember, deleteMember, updateMember } from "../../src/members/administer.ts";
import { carryOver } from "../../src/restore/carry-over.ts";
import { endRestoredRights } from "../../src/restore/end-rights.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Tables } from "../../src/storage/tables.ts";
import { getToken } from "../support/app.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { createFederation, type Federation, newPkce } from "../support/federation.ts";
import { quickest, until } from "../support/until.ts";

describe.each(engines)("after a restore on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  let operator: Storage;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
    operator = await openStorage({ clock: f.latchkey.clock }, database.url, UNHURRIED);
  });
  afterEach(async () => {
    await operator?.close();
    await f?.close();
    await database?.drop();
  });

  /** The operator's command, and the second that the command waits. */
  const end = async () => {
    const { clock } = f.latchkey;
    const ended = await endRestoredRights({ storage: operator, clock });
    clock.set(ended.from);
    return ended;
  };
  /** The instance's cache of the store is cleared within a second, as in any other process. */
  const endAndHear = async () => {
    const token = await f.store.token();
    const status = async () => (await call(f.latchkey.app, getStore, { token })).status;
    expect(await status()).toBe(200);
    await end();
    await until(async () => (await status()) === 401);
  };
  const secretOf = (client_secret: string) => {
    const form = { grant_type: "client_credentials", client_id: f.store.key.clientId, client_secret };
    return call(f.latchkey.app, issueAccessToken, { form });
  };

  test("401 for earlier access tokens, cached ones within a second; new ones work at once", async () => {
    let [token, fresh] = ["", ""];
    const status = async () => (await call(f.latchkey.app, getStore, { token })).status;
    const round = async () => {
      token = await f.store.token();
      expect(await status()).toBe(200);
      await end();
      fresh = await getToken(f.latchkey.app, f.store, "client_credentials");
      return until(async () => (await status()) === 401);
    };
    expect(await quickest(1000, round)).toBeLessThanOrEqual(1000);
    expect((await call(f.latchkey.app, getStore, { token: fresh })).status).toBe(200);
    const { clientId: client_id, clientSecret: client_secret } = f.store.key;
    const form = { client_id, client_secret, token };
    expect((await call(f.latchkey.app, introspectToken, { form })).body).toEqual({ active: false });
  });

  test("403 for earlier customer tokens, 400 for earlier codes, and both are counted", async () => {
    const { data } = (await f.redeem(await f.signOn())).body;
    const unredeemed = await f.signOn();
    const ended = await end();
    expect(ended).toMatchObject({ stores: 1, customer_tokens: 1, sign_ons: 2 });
    const token = await getToken(f.latchkey.app, f.store, "implicit");
    const headers = { "x-customer-token": data.token };
    const asAda = { token, ids: { id: data.customer_id }, headers };
    expect((await call(f.latchkey.app, getCustomer, asAda)).code).toBe("customer_token_invalid");
    expect((await f.redeem(unredeemed, {}, { token })).code).toBe("code_invalid");
    expect((await f.redeem(await f.signOn(), {}, { token })).status).toBe(200);
  });

  test("400 for a repeated Idempotency-Key: the earlier answer held a token that is now void", async () => {
    const signedOn = await f.signOn();
    const headers = { "idempotency-key": "once" };
    expect((await f.redeem(signedOn, {}, { headers })).status).toBe(200);
    await end();
    const token = await getToken(f.latchkey.app, f.store, "implicit");
    expect((await f.redeem(signedOn, {}, { token, headers })).code).toBe("code_invalid");
  });

  test("a restored signing key is in no key set within a second and does not sign; the new one has another name", async () => {
    const kids = async () =>
      (await call(f.latchkey.app, jwks)).body.keys
        .filter(({ alg }: { alg: string }) => alg === "ES256")
        .map(({ kid }: { kid: string }) => kid);
    let token = f.implicit;
    const round = async () => {
      await f.redeem(await f.signOn(), {}, { token });
      const [before] = await kids();
      expect((await end()).signing_keys).toBe(2);
      token = await getToken(f.latchkey.app, f.store, "implicit");
      return until(async () => !(await kids()).includes(before));
    };
    expect(await quickest(1000, round)).toBeLessThanOrEqual(1000);
    const { data } = (await f.redeem(await f.signOn(), {}, { token })).body;
    expect([decodeProtectedHeader(data.token).kid]).toEqual(await kids());
  });

  test("a shopper who was at the identity provider during the restore starts again: that sign-on has expired (T54)", async () => {
    const browser = { cookie: undefined };
    const begun = await f.begin(browser, { code_challenge: newPkce().challenge });
    const back = f.idp.signIn(begun.headers.get("location") ?? "");
    await endAndHear();
    expect((await f.comeBack(browser, back)).code).toBe("attempt_expired");
    expect((await f.signOn({ browser })).code).toBeTruthy();
  });

  test("401 for a secret that was rotated out and in its grace period; the newest one works", async () => {
    const { clock } = f.latchkey;
    const { data: rotated } = await rotateSecret(
      { storage: operator, clock, publicUrl: "" },
      byOperator(f.store.store.id),
      f.store.key.id,
    );
    expect((await secretOf(f.store.key.clientSecret)).status).toBe(200);
    expect((await end()).rotated_secrets).toBe(1);
    expect((await secretOf(f.store.key.clientSecret)).code).toBe("secret_rotated");
    expect((await secretOf(rotated.client_secret)).status).toBe(200);
  });

  test("the limits of the backup apply, also where the replaced database had changed them more often", async () => {
    const limitIs = (rate_limit: number, revision: number) =>
      operator.db.updateTable("stores").set({ rate_limit, revision }).execute();
    const told = async () => {
      f.latchkey.clock.advance(1000);
      const token = await getToken(f.latchkey.app, f.store, "client_credentials");
      return (await call(f.latchkey.app, getStore, { token })).headers.get("ratelimit-policy");
    };
    await limitIs(5000, 40);
    await until(async () => (await told())?.includes("q=5000"));
    await limitIs(700, 30);
    await end();
    await until(async () => (await told())?.includes("q=700"));
  });

  describe("with a readable replaced database", () => {
    let backup: TestDatabase;
    let restored: Storage;

    const COPIED = [
      "schema_migrations",
      "stores",
      "application_keys",
      "application_key_secrets",
      "customers",
    ] as const;

    /** The tables that are carried over, as they were at the time of the backup. */
    beforeEach(async () => {
      backup = await engine.create();
      restored = await openStorage({ clock: f.latchkey.clock }, backup.url, UNHURRIED);
      await restored.db.deleteFrom("schema_migrations").execute();
      for (const table of COPIED) {
        const rows = await operator.db.selectFrom(table).selectAll().execute();
        if (rows.length > 0) await restored.db.insertInto(table).values(rows).execute();
      }
    });
    afterEach(async () => {
      await restored?.close();
      await backup?.drop();
    });
    const carry = (replaced = operator) =>
      carryOver({ storage: restored, clock: f.latchkey.clock }, replaced);
    /** Also writes these rows into the backup. */
    const backUp = async (
      table: "application_keys" | "application_key_secrets" | "customers" | "members",
    ) => {
      const rows = await operator.db.selectFrom(table).selectAll().execute();
      await restored.db.deleteFrom(table).execute();
      // SQLite computes `name_key` itself.
      const given = rows.map((row) => ({ ...row, name_key: undefined }));
      await restored.db.insertInto(table).values(given).execute();
    };
    const NOTHING = {
      stores: 0,
      erased: 0,
      deleted_keys: 0,
      rotated_keys: 0,
      removed_members: 0,
      roles: 0,
      profiles: 0,
      realms: 0,
      webhooks: 0,
      deleted_customers: 0,
      passwords: 0,
      addresses: 0,
      identities: 0,
      unread: [],
    };
    const secrets = ({ db }: Storage): Promise<Tables["application_key_secrets"][]> =>
      db.selectFrom("application_key_secrets").selectAll().orderBy("id").execute();

    test("secrets that were rotated since are carried over, the new one included", async () => {
      const { clock } = f.latchkey;
      await rotateSecret(
        { storage: operator, clock, publicUrl: "" },
        byOperator(f.store.store.id),
        f.store.key.id,
      );
      expect(await secrets(restored)).not.toEqual(await secrets(operator));
      const carried = await carry();
      expect(carried).toEqual({ ...NOTHING, rotated_keys: 1 });
      expect(await secrets(restored)).toEqual(await secrets(operator));
      expect(await carry()).toEqual({ ...carried, rotated_keys: 0 });
    });

    test("keys that were deleted since stay deleted, with their secrets", async () => {
      const { clock } = f.latchkey;
      await deleteApplicationKey({ storage: operator, clock }, byOperator(f.store.store.id), f.store.key.id);
      const carried = await carry();
      expect(carried).toEqual({ ...NOTHING, deleted_keys: 1 });
      expect(await secrets(restored)).toEqual([]);
    });

    test("a key that became a PKCE client again since stays one", async () => {
      const deps = { storage: operator, clock: f.latchkey.clock, publicUrl: "" };
      const by = byOperator(f.store.store.id);
      const change = (openid_client: "pkce" | "standard") =>
        updateApplicationKey(deps, by, f.store.key.id, { name: "First key", openid_client: openid_client });
      await change("standard");
      await backUp("application_keys");
      await backUp("application_key_secrets");
      await change("pkce");
      expect(await carry()).toEqual({ ...NOTHING, roles: 1 });
      const row = await restored.db.selectFrom("application_keys").select("openid_client").executeTakeFirst();
      expect(row?.openid_client).toBe("pkce");
    });

    test("members who were removed since stay removed; roles and provider bindings are carried over", async () => {
      const { clock } = f.latchkey;
      const deps = { storage: operator, clock, publicUrl: "" };
      const by = byOperator(f.store.store.id);
      const invite = async (name: string) => {
        const email = { shown: `${name}@shop.example`, key: `${name}@shop.example` };
        return (await createMember(deps, by, { email, role: "administrator" })).data;
      };
      const [gone, demoted, bound] = [await invite("gone"), await invite("demoted"), await invite("bound")];
      await backUp("members");
      await deleteMember(deps, by, gone.id);
      await updateMember(deps, by, demoted.id, { role: "viewer" });
      await updateApplicationKey(deps, by, f.store.key.id, { name: "First key", role: "support" });
      const binding = { profile_id: f.profileId, issuer: "i", subject: "s" };
      await operator.db.updateTable("members").set(binding).where("id", "=", bound.id).execute();
      expect(await carry()).toEqual({ ...NOTHING, removed_members: 1, roles: 2 });
      const stateOf = ({ db }: Storage) =>
        db.selectFrom("members").select(["id", "role", "subject"]).orderBy("id").execute();
      expect(await stateOf(restored)).toEqual(await stateOf(operator));
    });

    test("an invitation that was sent to another address since stays so, whichever member had that address then", async () => {
      const deps = { storage: operator, clock: f.latchkey.clock, publicUrl: "" };
      const by = byOperator(f.store.store.id);
      const addressOf = (name: string) => ({ shown: `${name}@Shop.example`, key: `${name}@shop.example` });
      const invite = async (name: string) =>
        (await createMember(deps, by, { email: addressOf(name), role: "administrator" })).data.id;
      const send = (id: string, name: string) => updateMember(deps, by, id, { email: addressOf(name) });
      const ids = [await invite("wrong"), await invite("one"), await invite("other"), await invite("bound")];
      const [mistyped = "", one = "", other = "", bound = ""] = ids;
      const binding = { profile_id: f.profileId, issuer: "i", subject: "s" };
      await operator.db.updateTable("members").set(binding).where("id", "=", bound).execute();
      await backUp("members");
      // The two have swapped addresses, and the member with a mistyped one has the address of another member now.
      for (const [id, name] of [
        [one, "free"],
        [other, "one"],
        [one, "other"],
        [bound, "moved"],
        [mistyped, "bound"],
      ] as const)
        await send(id, name);
      expect(await carry()).toEqual(NOTHING);
      const addressesOf = ({ db }: Storage) =>
        db.selectFrom("members").select(["id", "email", "email_key"]).orderBy("id").execute();
      expect(await addressesOf(restored)).toEqual(await addressesOf(operator));
      expect(await addressesOf(restored)).toContainEqual({
        id: mistyped,
        email: "bound@Shop.example",
        email_key: "bound@shop.example",
      });
    });

    test("a password that was changed since is carried over; a customer without one at the backup has none", async () => {
      const make = (name: string, password?: string) => {
        const data = { type: "customer", name, email: `${name}@shop.example`, password };
        return f.store.call(createCustomer, { json: { data } });
      };
      await make("ada", "of before");
      await make("bea");
      await backUp("customers");
      await operator.db.updateTable("customers").set({ password_hash: "hash of now" }).execute();
      expect(await carry()).toEqual({ ...NOTHING, passwords: 1 });
      const found = restored.db.selectFrom("customers").select(["name", "password_hash"]).orderBy("name");
      expect(await found.execute()).toEqual([
        { name: "ada", password_hash: "hash of now" },
        { name: "bea", password_hash: null },
      ]);
    });

    test("each carried-over change leaves one event, with the operator as the actor (wire 16)", async () => {
      const deps = { storage: operator, clock: f.latchkey.clock, publicUrl: "" };
      const by = byOperator(f.store.store.id);
      const invite = async (name: string) => {
        const email = { shown: `${name}@shop.example`, key: `${name}@shop.example` };
        return (await createMember(deps, by, { email, role: "administrator" })).data.id;
      };
      const [gone, changed, bound] = [await invite("gone"), await invite("changed"), await invite("bound")];
      const doomed = (await createApplicationKey(deps, by, { name: "Doomed" })).data.id;
      const ada = { type: "customer", name: "Ada", email: "ada@shop.example", password: "of before" };
      const customer = (await f.store.call(createCustomer, { json: { data: ada } })).body.data.id;
      for (const table of ["application_keys", "application_key_secrets", "customers", "members"] as const)
        await backUp(table);
      await deleteMember(deps, by, gone);
      const email = { shown: "right@shop.example", key: "right@shop.example" };
      await updateMember(deps, by, changed, { email, role: "viewer" });
      const binding = { profile_id: f.profileId, issuer: "i", subject: "s" };
      await operator.db.updateTable("members").set(binding).where("id", "=", bound).execute();
      await deleteApplicationKey(deps, by, doomed);
      await rotateSecret(deps, by, f.store.key.id);
      await updateApplicationKey(deps, by, f.store.key.id, { role: "support" });
      await operator.db.updateTable("customers").set({ password_hash: "hash of now" }).execute();
      await carry();
      const noted = await restored.db.selectFrom("event_outbox").selectAll().execute();
      const read = noted.map(({ type, subject, store_id, data }) => {
        const { actor, changes } = JSON.parse(data);
        return { type, subject, store_id, by: actor.type, changes };
      });
      const happened = (type: string, subject: string, changes?: object) => ({
        type,
        subject,
        store_id: f.store.store.id,
        by: "operator",
        changes,
      });
      const from = (before: string, after: string) => ({ before, after });
      const expected = [
        happened("application_key.deleted", doomed),
        happened("application_key.rotated", f.store.key.id),
        happened("application_key.updated", f.store.key.id, { role: from("administrator", "support") }),
        happened("member.deleted", gone),
        happened("member.updated", changed, {
          email: from("changed@shop.example", "right@shop.example"),
          role: from("administrator", "viewer"),
        }),
        happened("member.updated", bound, { status: from("invited", "active") }),
        happened("customer.updated", customer, { password: "(changed)" }),
      ];
      expect(read).toHaveLength(expected.length);
      expect(read).toEqual(expect.arrayContaining(expected));
      expect(JSON.stringify(noted)).not.toMatch(/_hash|hash of|of before/);
      // An unchanged resource leaves no event.
      await carry();
      expect(await restored.db.selectFrom("event_outbox").selectAll().execute()).toHaveLength(noted.length);
    });

    test("nothing is carried over from a database that was itself restored since, and no key is deleted", async () => {
      const { clock } = f.latchkey;
      await deleteApplicationKey({ storage: operator, clock }, byOperator(f.store.store.id), f.store.key.id);
      await end();
      expect(await carry()).toBeUndefined();
      expect(await secrets(restored)).toHaveLength(1);
    });

    test("nothing is carried over from a database that is not the origin of the backup, and no key is deleted", async () => {
      const { clock } = f.latchkey;
      clock.advance(1);
      const another = await engine.create();
      const empty = await openStorage({ clock }, another.url, UNHURRIED);
      expect(await carry(empty)).toBeUndefined();
      expect(await secrets(restored)).toHaveLength(1);
      await empty.close();
      await another.drop();
    });
  });
});
