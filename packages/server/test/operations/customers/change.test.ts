import * as argon2 from "@node-rs/argon2";
import { describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../../src/contract/customer-tokens.ts";
import { createCustomer, getCustomer, updateCustomer } from "../../../src/contract/customers.ts";
import * as customers from "../../../src/customers/administer.ts";
import { getCustomer as readCustomer } from "../../../src/customers/customer.ts";
import { createPublicWrites } from "../../../src/customers/public-write-limits.ts";
import { createPasswords } from "../../../src/passwords/password.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import {
  callerOf,
  create,
  implicit,
  insertToken,
  latchkey,
  newEmail,
  PASSWORD,
  read,
  shops,
  signIn,
  signUpLimitsOf,
  store,
  tokensOf,
  UNKNOWN,
  update,
} from "./shop.ts";

/** Customers are changed: name, e-mail, password. */

shops();

describe("a change of a customer", () => {
  test("409 when `If-Match` is not the customer's current ETag, so that an unseen e-mail is not verified", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD })).body.data;
    const seen = (await store.call(getCustomer, { ids: { id } })).headers.get("etag") ?? "";
    const prove = (etag: string) =>
      store.call(updateCustomer, {
        ids: { id },
        headers: { "if-match": etag },
        json: { data: { type: "customer", email_verified: true } },
      });
    const theirs = newEmail();
    expect((await (await signIn(email))(updateCustomer, id, { email: theirs })).status).toBe(200);
    const refused = await prove(seen);
    expect([refused.status, refused.code]).toEqual([409, "customer_changed"]);
    expect(await read(id)).toMatchObject({ email: theirs, email_verified: false });
    const now = (await store.call(getCustomer, { ids: { id } })).headers.get("etag") ?? "";
    const proven = await prove(now);
    expect(proven.body.data).toMatchObject({ email: theirs, email_verified: true });
    expect(proven.headers.get("etag")).toBe(`"${proven.body.data.meta.timestamps.updated_at}"`);
    expect((await prove("*")).status).toBe(200);
  });

  test("200 changes the members that are given; null clears the reference; `updated_at` grows", async () => {
    const { data } = (await create({ external_ref: "crm-1", password: PASSWORD })).body;
    const named = (await update(data.id, { name: "Countess" })).body.data;
    expect(named).toEqual({
      ...data,
      name: "Countess",
      meta: { timestamps: { ...data.meta.timestamps, updated_at: "2026-01-01T00:00:00.001Z" } },
    });
    const cleared = (await update(data.id, { external_ref: null })).body.data;
    expect(cleared).toMatchObject({ name: "Countess", external_ref: null, password: true });
    expect(cleared.meta.timestamps.updated_at).toBe("2026-01-01T00:00:00.002Z");
    expect(await read(data.id)).toEqual(cleared);
  });

  test("200 for a customer that is sent back whole: the password stays", async () => {
    for (const password of [PASSWORD, undefined]) {
      const { data } = (await create({ password })).body;
      const sent = await update(data.id, { ...data, name: "Countess" });
      expect(sent.body.data).toMatchObject({ name: "Countess", password: password !== undefined });
      if (password) await signIn(data.email);
    }
    expect((await create({ password: true })).status).toBe(400);
  });

  test("409 for another customer's id in the body; an empty id is ignored", async () => {
    const { id } = (await create()).body.data;
    expect((await update(id, { id: UNKNOWN })).code).toBe("id_mismatch");
    expect((await update(id, { id: "" })).status).toBe(200);
    expect((await update(id, { id })).status).toBe(200);
  });

  test("409 for an e-mail or a password that would give two customers the same sign-in", async () => {
    const email = newEmail();
    await create({ email, password: PASSWORD });
    const rival = (await create({ password: PASSWORD })).body.data;
    const moved = await update(rival.id, { name: "Rival", email: email.toUpperCase() });
    expect([moved.status, moved.code]).toEqual([409, "email_taken"]);
    const namesake = (await create({ email })).body.data;
    expect((await update(namesake.id, { password: PASSWORD })).code).toBe("email_taken");
    for (const before of [rival, namesake]) expect(await read(before.id)).toEqual(before);
  });

  test("the own e-mail in capitals is no conflict, and stays verified", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD, email_verified: true })).body.data;
    const { status, body } = await update(id, { email: email.toUpperCase() });
    expect([status, body.data.email_verified]).toEqual([200, true]);
  });

  test("a changed e-mail is unverified, unless the back office says otherwise in the same request", async () => {
    const { id } = (await create({ email_verified: true })).body.data;
    const verified = async (change: object) => (await update(id, change)).body.data.email_verified;
    expect(await verified({ name: "Same" })).toBe(true);
    expect(await verified({ email: newEmail() })).toBe(false);
    expect(await verified({ email: newEmail(), email_verified: true })).toBe(true);
    expect(await verified({ email_verified: false })).toBe(false);
    expect(await verified({ email_verified: true })).toBe(true);
    expect(await verified({ email: newEmail(), email_verified: false })).toBe(false);
  });

  test("a customer cannot set `email_verified`", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD, email_verified: true })).body.data;
    const asAda = await signIn(email);
    const verified = async (change: object) =>
      (await asAda(updateCustomer, id, change)).body.data.email_verified;
    expect(await verified({ email_verified: false })).toBe(true);
    expect(await verified({ email: newEmail(), email_verified: true })).toBe(false);
    expect(await verified({ email_verified: true })).toBe(false);
  });

  test("a new password ends every other session; the old password is refused", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD })).body.data;
    const bystander = (await create({ password: PASSWORD })).body.data.id;
    const kept = await insertToken(bystander);
    const [asAda, elsewhere] = [await signIn(email), await signIn(email)];
    expect((await asAda(updateCustomer, id, { password: "battery staple" })).status).toBe(200);
    expect((await asAda(getCustomer, id)).status).toBe(200);
    expect((await elsewhere(getCustomer, id)).status).toBe(403);
    expect(await tokensOf(bystander)).toEqual([kept]);
    const json = { data: { type: "token", email, password: PASSWORD } };
    expect((await call(latchkey.app, issueCustomerToken, { token: implicit, json })).code).toBe(
      "credentials_wrong",
    );
    await signIn(email, "battery staple");
  });

  test("a password from the back office ends every session; other changes end none", async () => {
    const { id } = (await create({ password: PASSWORD })).body.data;
    const tokens = [await insertToken(id), await insertToken(id)];
    await update(id, { name: "Countess", email: newEmail() });
    expect(await tokensOf(id)).toEqual(tokens.sort());
    await update(id, { password: "battery staple" });
    expect(await tokensOf(id)).toEqual([]);
  });

  test("a refused password ends no session", async () => {
    const email = newEmail();
    await create({ email, password: PASSWORD });
    const { id } = (await create({ email })).body.data;
    const token = await insertToken(id);
    expect((await update(id, { password: PASSWORD })).code).toBe("email_taken");
    expect(await tokensOf(id)).toEqual([token]);
  });

  test("503 with Retry-After when the queue of passwords to hash is full", async () => {
    const { storage, clock, keyring } = latchkey;
    const token = await store.token();
    const { id } = (await create()).body.data;
    const change = { ids: { id }, json: { data: { type: "customer", password: PASSWORD } } };
    const data = () => ({ type: "customer", name: "Ada", email: newEmail(), password: PASSWORD });
    for (const ask of [
      (busy: TestApp) => call(busy.app, updateCustomer, { token, ...change }),
      (busy: TestApp) => call(busy.app, createCustomer, { token, json: { data: data() } }),
    ]) {
      const { promise, resolve } = Promise.withResolvers<string>();
      const library = { ...argon2, hash: () => promise };
      // So slow that the limit of the queue refuses the second password.
      const passwords = createPasswords({ clock, atOnce: 1, eachMs: 3000, library });
      const busy = await createTestApp({ storage, clock, keyring, passwords });
      const answers = [ask(busy), ask(busy)];
      const refused = await Promise.race(answers);
      expect([refused.status, refused.code]).toEqual([503, "password_queue_full"]);
      expect(refused.headers.get("retry-after")).toBe("1");
      resolve(await argon2.hash(PASSWORD));
      expect((await Promise.all(answers)).map(({ status }) => status).toSorted()[0]).toBeLessThan(300);
    }
  });

  test("no transaction is open while a password is hashed", async () => {
    const { storage, clock } = latchkey;
    const { id } = (await create()).body.data;
    // SQLite has one connection: this statement waits for ever if a transaction is open.
    const hash = async () => {
      await storage.db.selectFrom("stores").select("id").execute();
      return "hash";
    };
    const publicWrites = createPublicWrites({ clock, signUpLimitsOf });
    const passwords = { ...createPasswords({ clock }), hash };
    const deps = { storage, clock, publicUrl: "", publicWrites, passwords };
    await customers.updateCustomer(deps, callerOf(), id, { password: "x" });
    expect((await readCustomer(deps, callerOf(), id)).password_hash).toBe("hash");
  });
});
