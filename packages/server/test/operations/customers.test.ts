import * as argon2 from "@node-rs/argon2";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Caller } from "../../src/contract/caller.ts";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import {
  createCustomer,
  deleteCustomer,
  getCustomer,
  listCustomers,
  updateCustomer,
} from "../../src/contract/customers.ts";
import { Problem } from "../../src/contract/problem.ts";
import * as customers from "../../src/customers/administer.ts";
import { getCustomer as readCustomer } from "../../src/customers/customer.ts";
import { createPublicWrites } from "../../src/customers/public-writes.ts";
import { signInWithPassword } from "../../src/customers/sign-in.ts";
import { newId } from "../../src/lib/ids.ts";
import { createPasswords } from "../../src/passwords/password.ts";
import { createSignInThrottle } from "../../src/passwords/throttle.ts";
import { createTestApp, PUBLIC_URL, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";

const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const PASSWORD = "correct horse";

/** What the sign-ups of a store are bounded by has a test of its own (attacks/public-sign-up.test.ts). */
const signUpLimitsOf = async () => ({ sign_ups_per_network: 1000, sign_ups_per_hour: 1000 });

let latchkey: TestApp;
let store: TestStore;
let other: TestStore;
let implicit: string;

beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore(10_000);
  other = await latchkey.createStore(10_000);
  implicit = await store.token("implicit");
});
afterAll(() => latchkey.close());

let made = 0;
const newEmail = (): string => `customer-${++made}@shop.example`;

const create = (data: object = {}, by = store) =>
  by.call(createCustomer, { json: { data: { type: "customer", name: "Ada", email: newEmail(), ...data } } });
const createPublicly = (data: object) =>
  call(latchkey.app, createCustomer, {
    token: implicit,
    json: { data: { type: "customer", name: "Ada", ...data } },
  });
const update = (id: string, data: object) =>
  store.call(updateCustomer, { ids: { id }, json: { data: { type: "customer", ...data } } });
const read = async (id: string) => (await store.call(getCustomer, { ids: { id } })).body.data;

/** Calls of a customer who has signed in with an e-mail and a password. */
async function signIn(email: string, password = PASSWORD) {
  const json = { data: { type: "token", email, password } };
  const { body } = await call(latchkey.app, issueCustomerToken, { token: implicit, json });
  const headers = { "x-customer-token": body.data.token };
  return (operation: Parameters<typeof call>[1], id: string, data?: object) =>
    call(latchkey.app, operation, {
      token: implicit,
      headers,
      ids: { id },
      ...(data && { json: { data: { type: "customer", ...data } } }),
    });
}

/** As the gate would say it: for what the functions promise on their own. */
const callerOf = (customer?: { customerId: string; tokenId: string }): Caller => ({
  storeId: store.store.id,
  holder: {
    type: "application_key",
    id: store.key.id,
    name: "First key",
    clientId: store.key.clientId,
  },
  requestId: store.key.id,
  grant: customer ? "implicit" : "client_credentials",
  role: customer ? null : "administrator",
  ...(customer && { customer: { ...customer, realmId: newId(), mechanism: "password" } }),
});

async function insertToken(customerId: string): Promise<string> {
  const id = newId();
  const nothing = { profile_id: null, profile_name: null, subject: null, idp_session: null };
  const times = { created_at: latchkey.clock.now(), expires_at: latchkey.clock.now() + 1000 };
  const row = {
    id,
    store_id: store.store.id,
    customer_id: customerId,
    mechanism: "password",
    ...nothing,
    ...times,
  };
  await latchkey.storage.db.insertInto("customer_tokens").values(row).execute();
  return id;
}

async function tokensOf(customerId: string): Promise<string[]> {
  const query = latchkey.storage.db.selectFrom("customer_tokens").select("id").orderBy("id");
  return (await query.where("customer_id", "=", customerId).execute()).map(({ id }) => id);
}

describe("creating", () => {
  test("201 with what was given, defaults for the rest, and never the password", async () => {
    const { status, body } = await create({ email: "Ada.Lovelace@Shop.Example" });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      type: "customer",
      name: "Ada",
      password: false,
      external_ref: null,
      authentication_mechanism: "password",
      email_verified: false,
      meta: {
        timestamps: { created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" },
      },
    });
    expect(body.data.email.toLowerCase()).toBe("ada.lovelace@shop.example");
    expect(body.links.self).toBe(`${PUBLIC_URL}/v2/customers/${body.data.id}`);
    expect(await read(body.data.id)).toEqual(body.data);

    const second = await create({ password: PASSWORD, external_ref: "crm-7", email_verified: true });
    expect(second.body.data).toMatchObject({ password: true, external_ref: "crm-7", email_verified: true });
    expect(JSON.stringify(second.body)).not.toContain(PASSWORD);
    expect(JSON.stringify(latchkey.logLines)).not.toContain(PASSWORD);
  });

  test("201 for an implicit token, which says nothing of whether the e-mail is proven", async () => {
    const { status, body } = await createPublicly({ email: newEmail(), email_verified: true });
    expect([status, body.data.email_verified]).toEqual([201, false]);
  });

  test("409 for an e-mail that another customer signs in with, in any case, at any place of the same store", async () => {
    const email = newEmail();
    expect((await create({ email, password: PASSWORD })).status).toBe(201);
    const answer = await createPublicly({ email: email.toUpperCase(), password: "another one" });
    expect([answer.status, answer.code]).toEqual([409, "email_taken"]);
    expect(answer.body.errors[0].source).toEqual({ pointer: "/data/email" });
    expect((await create({ email, password: PASSWORD }, other)).status).toBe(201);
  });

  test("customers without a password may share an e-mail, also with one who has a password", async () => {
    const email = newEmail();
    for (const password of [undefined, undefined, PASSWORD, undefined])
      expect((await create({ email, password })).status).toBe(201);
  });

  test("400 says all that is wrong at once, each where it is", async () => {
    const { status, body } = await create({
      type: "token",
      name: " ",
      email: "two@shop.example, addresses@shop.example",
      password: "short",
      external_ref: "",
      email_verified: "yes",
    });
    expect(status).toBe(400);
    const pointers = body.errors.map((error: { source: { pointer: string } }) => error.source.pointer);
    expect(pointers.sort()).toEqual(
      ["email", "email_verified", "external_ref", "name", "password", "type"].map(
        (member) => `/data/${member}`,
      ),
    );
    const missing = await store.call(createCustomer, { json: { data: { type: "customer" } } });
    expect(missing.codes).toEqual(["member_missing", "member_missing"]);
  });

  test.each([
    ["a password of 7 characters", { password: "x".repeat(7) }, 400],
    ["a password of 8", { password: "x".repeat(8) }, 201],
    ["a password of 128", { password: "x".repeat(128) }, 201],
    ["a password of 129", { password: "x".repeat(129) }, 400],
    ["a reference of 2048", { external_ref: "x".repeat(2048) }, 201],
    ["a reference of 2049", { external_ref: "x".repeat(2049) }, 400],
    ["a password that is null", { password: null }, 400],
    ["an e-mail without a host", { email: "ada@" }, 400],
  ])("%s", async (_, data, status) => {
    expect((await create(data)).status).toBe(status);
  });
});

describe("reading", () => {
  test("403 for an implicit token alone: it is public", async () => {
    const { id } = (await create()).body.data;
    const ids = { id };
    const json = { data: { type: "customer" } };
    expect((await call(latchkey.app, getCustomer, { token: implicit, ids })).status).toBe(403);
    expect((await call(latchkey.app, updateCustomer, { token: implicit, ids, json })).status).toBe(403);
    expect((await call(latchkey.app, deleteCustomer, { token: implicit, ids })).status).toBe(403);
    expect((await call(latchkey.app, listCustomers, { token: implicit })).status).toBe(403);
  });

  test("with a customer token: oneself, and 404 for anybody else, as for nobody", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD })).body.data;
    const somebody = (await create()).body.data.id;
    const asAda = await signIn(email);
    expect((await asAda(getCustomer, id)).body.data.email).toBe(email);
    expect((await asAda(updateCustomer, id, { name: "Countess" })).body.data.name).toBe("Countess");
    for (const stranger of [somebody, UNKNOWN]) {
      expect((await asAda(getCustomer, stranger)).code).toBe("customer_not_found");
      expect((await asAda(updateCustomer, stranger, { name: "Mine" })).code).toBe("customer_not_found");
      expect((await asAda(deleteCustomer, stranger)).code).toBe("customer_not_found");
    }
    expect((await asAda(listCustomers, id)).status).toBe(403);
    expect((await read(somebody)).name).toBe("Ada");
    expect((await asAda(deleteCustomer, id)).status).toBe(204);
  });

  test("404 for another store's customer, the same as for none, and nothing changes (T30)", async () => {
    const foreign = (await create({}, other)).body.data;
    for (const operation of [getCustomer, updateCustomer, deleteCustomer]) {
      const json = operation === updateCustomer ? { json: { data: { type: "customer", name: "Mine" } } } : {};
      const answers = await Promise.all(
        [foreign.id, UNKNOWN].map((id) => store.call(operation, { ids: { id }, ...json })),
      );
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      const [first, second] = answers.map(({ body }) => ({ ...body.errors[0], id: "" }));
      expect(first).toEqual(second);
    }
    expect((await other.call(getCustomer, { ids: { id: foreign.id } })).body.data).toEqual(foreign);
  });

  test("the functions themselves refuse others: no route can forget it", async () => {
    const { id } = (await create()).body.data;
    const stranger = callerOf({ customerId: UNKNOWN, tokenId: UNKNOWN });
    const { storage, clock } = latchkey;
    const publicWrites = createPublicWrites({ clock, signUpLimitsOf });
    const deps = { storage, clock, publicWrites, passwords: createPasswords(latchkey) };
    for (const work of [
      () => readCustomer(deps, stranger, id),
      () => customers.updateCustomer(deps, stranger, id, { name: "Mine" }),
      () => customers.deleteCustomer(deps, stranger, id),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: "customer_not_found" });
    }
    expect((await readCustomer(deps, callerOf({ customerId: id, tokenId: UNKNOWN }), id)).id).toBe(id);
  });
});

describe("changing", () => {
  test("409 calls no address proven that the caller has not seen, where `If-Match` says which one that was", async () => {
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

  test("200 changes what is there and keeps the rest; null clears the reference; time moves on", async () => {
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

  test("200 for a customer that is sent back whole, with what was read and a new name: the password stays", async () => {
    for (const password of [PASSWORD, undefined]) {
      const { data } = (await create({ password })).body;
      const sent = await update(data.id, { ...data, name: "Countess" });
      expect(sent.body.data).toMatchObject({ name: "Countess", password: password !== undefined });
      if (password) await signIn(data.email);
    }
    expect((await create({ password: true })).status).toBe(400);
  });

  test("409 for a body that names another customer; an empty id names none", async () => {
    const { id } = (await create()).body.data;
    expect((await update(id, { id: UNKNOWN })).code).toBe("id_mismatch");
    expect((await update(id, { id: "" })).status).toBe(200);
    expect((await update(id, { id })).status).toBe(200);
  });

  test("409 for an e-mail, or a password, that would make two customers sign in alike; nothing changes", async () => {
    const email = newEmail();
    await create({ email, password: PASSWORD });
    const rival = (await create({ password: PASSWORD })).body.data;
    const moved = await update(rival.id, { name: "Rival", email: email.toUpperCase() });
    expect([moved.status, moved.code]).toEqual([409, "email_taken"]);
    const namesake = (await create({ email })).body.data;
    expect((await update(namesake.id, { password: PASSWORD })).code).toBe("email_taken");
    for (const before of [rival, namesake]) expect(await read(before.id)).toEqual(before);
  });

  test("one's own e-mail in other capitals is no conflict, and stays proven", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD, email_verified: true })).body.data;
    const { status, body } = await update(id, { email: email.toUpperCase() });
    expect([status, body.data.email_verified]).toEqual([200, true]);
  });

  test("a changed e-mail is unproven, unless the back office says otherwise in the same request", async () => {
    const { id } = (await create({ email_verified: true })).body.data;
    const verified = async (change: object) => (await update(id, change)).body.data.email_verified;
    expect(await verified({ name: "Same" })).toBe(true);
    expect(await verified({ email: newEmail() })).toBe(false);
    expect(await verified({ email: newEmail(), email_verified: true })).toBe(true);
    expect(await verified({ email_verified: false })).toBe(false);
    expect(await verified({ email_verified: true })).toBe(true);
    expect(await verified({ email: newEmail(), email_verified: false })).toBe(false);
  });

  test("a customer cannot say that the own e-mail is proven, nor that it is not", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD, email_verified: true })).body.data;
    const asAda = await signIn(email);
    const verified = async (change: object) =>
      (await asAda(updateCustomer, id, change)).body.data.email_verified;
    expect(await verified({ email_verified: false })).toBe(true);
    expect(await verified({ email: newEmail(), email_verified: true })).toBe(false);
    expect(await verified({ email_verified: true })).toBe(false);
  });

  test("a new password works, the old one does not, and every other session ends", async () => {
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

  test("a password that the back office sets ends every session; a change without one ends none", async () => {
    const { id } = (await create({ password: PASSWORD })).body.data;
    const tokens = [await insertToken(id), await insertToken(id)];
    await update(id, { name: "Countess", email: newEmail() });
    expect(await tokensOf(id)).toEqual(tokens.sort());
    await update(id, { password: "battery staple" });
    expect(await tokensOf(id)).toEqual([]);
  });

  test("a password that is refused ends no session", async () => {
    const email = newEmail();
    await create({ email, password: PASSWORD });
    const { id } = (await create({ email })).body.data;
    const token = await insertToken(id);
    expect((await update(id, { password: PASSWORD })).code).toBe("email_taken");
    expect(await tokensOf(id)).toEqual([token]);
  });

  test("503 with Retry-After when too many passwords are being hashed at once", async () => {
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
      // So slow that nobody may wait behind the first.
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
    // On SQLite there is one connection: this answers only if nobody holds it.
    const hash = async () => {
      await storage.db.selectFrom("stores").select("id").execute();
      return "hash";
    };
    const publicWrites = createPublicWrites({ clock, signUpLimitsOf });
    const deps = { storage, clock, publicWrites, passwords: { ...createPasswords({ clock }), hash } };
    expect((await customers.updateCustomer(deps, callerOf(), id, { password: "x" })).password_hash).toBe(
      "hash",
    );
  });
});

test("204 deletes a customer with tokens and identities; then 404", async () => {
  const { id } = (await create({ password: PASSWORD })).body.data;
  await insertToken(id);
  expect((await store.call(deleteCustomer, { ids: { id } })).status).toBe(204);
  expect(await tokensOf(id)).toEqual([]);
  for (const operation of [getCustomer, deleteCustomer])
    expect((await store.call(operation, { ids: { id } })).code).toBe("customer_not_found");
  expect((await update(id, { name: "Ghost" })).code).toBe("customer_not_found");
});

describe("signing in with a password", () => {
  const source = "198.51.100.1";

  function build() {
    const { storage, clock } = latchkey;
    const passwords = createPasswords({ clock });
    const matches = vi.spyOn(passwords, "matches");
    const deps = { storage, passwords, signInThrottle: createSignInThrottle({ clock }) };
    const shopper: Caller = { ...callerOf(), grant: "implicit" };
    const attempt = (email: string, password: string, caller = shopper) =>
      signInWithPassword(deps, caller, source, { email, password }, () => false);
    return { deps, matches, attempt };
  }
  const problemOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: Problem) => error,
    );

  test("gives the one customer with this e-mail, in any case, and a password", async () => {
    const email = newEmail();
    await create({ email });
    const { id } = (await create({ email, password: PASSWORD })).body.data;
    await create({ email });
    await create({ email, password: "another one" }, other);
    const { attempt } = build();
    expect((await attempt(email.toUpperCase(), PASSWORD)).id).toBe(id);
    expect((await problemOf(attempt(email, "another one")))?.code).toBe("credentials_wrong");
  });

  test("400 in the same words, after the same work, whatever is wrong (T22)", async () => {
    const [withPassword, without] = [newEmail(), newEmail()];
    await create({ email: withPassword, password: PASSWORD });
    await create({ email: without });
    const { attempt, matches } = build();
    const problems = [];
    for (const [email, password] of [
      [withPassword, "wrong password"],
      [withPassword, ""],
      [without, PASSWORD],
      [without, ""],
      [newEmail(), PASSWORD],
      ["no address", PASSWORD],
      ["", ""],
      ["nul\0@shop.example", PASSWORD],
      ["x".repeat(1024), PASSWORD],
    ] as const) {
      matches.mockClear();
      problems.push(await problemOf(attempt(email, password)));
      expect(matches).toHaveBeenCalledOnce();
    }
    for (const problem of problems) expect(problem).toEqual(new Problem("credentials_wrong"));
  });

  test("429 after five failures, also for the right password, without any work; later it works", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD })).body.data;
    const { attempt, matches } = build();
    for (let i = 0; i < 5; i++) await problemOf(attempt(email, "wrong password"));
    matches.mockClear();
    const problem = await problemOf(attempt(email, PASSWORD));
    expect([problem?.code, problem?.retryAfterSeconds]).toEqual(["sign_in_attempts_exceeded", 10]);
    expect(matches).not.toHaveBeenCalled();
    latchkey.clock.advance(10_000);
    expect((await attempt(email, PASSWORD)).id).toBe(id);
  });

  test("a burst of guesses at once is let in no further than one after the other", async () => {
    const { attempt, matches } = build();
    const problems = await Promise.all(
      Array.from({ length: 50 }, (_, index) => problemOf(attempt("ada@shop.example", `guess ${index}`))),
    );
    expect(matches).toHaveBeenCalledTimes(5);
    expect(problems.filter((problem) => problem?.code === "credentials_wrong")).toHaveLength(5);
  });

  test("what was never checked costs nothing", async () => {
    const email = newEmail();
    await create({ email, password: PASSWORD });
    const { attempt, matches } = build();
    for (let i = 0; i < 20; i++) {
      matches.mockRejectedValueOnce(new Problem("password_queue_full"));
      expect((await problemOf(attempt(email, PASSWORD)))?.code).toBe("password_queue_full");
    }
    expect(await problemOf(attempt(email, PASSWORD))).toBeUndefined();
  });

  test("only callers with a public token are limited by their address", async () => {
    for (const [caller, limited] of [
      [callerOf(), false],
      [{ ...callerOf(), grant: "implicit" as const }, true],
    ] as const) {
      const { deps, attempt } = build();
      deps.passwords.matches = async () => false;
      const problems = [];
      for (let i = 0; i < 101; i++) problems.push(await problemOf(attempt(newEmail(), "x", caller)));
      expect(problems.at(-1)?.code === "sign_in_attempts_exceeded").toBe(limited);
    }
  });
});

describe.each(engines)("on $name", (engine) => {
  let database: TestDatabase;
  let here: TestApp;
  let shop: TestStore;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    here = await createTestApp({ databaseUrl: database.url });
    shop = await here.createStore(10_000);
  });
  afterEach(async () => {
    await here?.close();
    await database?.drop();
  });

  const list = async (query: string) => (await shop.call(listCustomers, { query })).body;
  const namesOf = async (query: string): Promise<string[]> =>
    (await list(query)).data.map((customer: { name: string }) => customer.name);

  test("sixteen at once with one e-mail and a password: exactly one 201, and fifteen 409", async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        create({ email: index % 2 ? "race@shop.example" : "RACE@shop.example", password: PASSWORD }, shop),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(15).fill(409)]);
    expect((await list("filter=eq(email,race@shop.example)")).meta.results.total).toBe(1);
  });

  test("twenty customers at once who want one e-mail: exactly one 200", async () => {
    const ids = [];
    for (let i = 0; i < 20; i++)
      ids.push((await create({ email: newEmail(), password: PASSWORD }, shop)).body.data.id);
    const json = { data: { type: "customer", email: "race@shop.example" } };
    const answers = await Promise.all(ids.map((id) => shop.call(updateCustomer, { ids: { id }, json })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
  });

  test("a list is narrowed, ordered and paged, and its links stay in the same list", async () => {
    const made: { id: string; name: string }[] = [];
    for (const [index, name] of ["Ada", "Bea", "a_b", "axb", "100%"].entries()) {
      here.clock.set(Date.parse("2026-01-01") + index * 1000);
      const data = { name, email: `${"Cust"}${index}@Shop.example`, external_ref: `ref:(${index})` };
      made.push((await create(data, shop)).body.data);
    }
    const newestFirst = ["100%", "axb", "a_b", "Bea", "Ada"];
    for (const query of ["", "filter=", "sort=-created_at"])
      expect(await namesOf(query), query).toEqual(newestFirst);
    // Ids of one millisecond are in no order.
    const byId = made.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ name }) => name);
    expect(await namesOf("sort=id")).toEqual(byId);
    expect(await namesOf("sort=-id")).toEqual(byId.toReversed());
    for (const [filter, names] of [
      ["eq(email,CUST1@shop.EXAMPLE)", ["Bea"]],
      ["eq(email,cust1)", []],
      ["like(email,*1@SHOP*)", ["Bea"]],
      ["like(email,cust*)", ["Ada", "Bea", "a_b", "axb", "100%"]],
      ["eq(name,ada)", []],
      ["eq(name,Ada)", ["Ada"]],
      ["like(name,ada)", ["Ada"]],
      ["like(name,A_B)", ["a_b"]],
      ["like(name,100%25)", ["100%"]],
      ["like(name,%25)", []],
      ["like(name,\\*)", []],
      ["eq(external_ref,ref:(2))", ["a_b"]],
      ["gt(created_at,2026-01-01T00:00:03.000Z)", ["100%"]],
      ["ge(created_at,2026-01-01T00:00:03.000Z)", ["100%", "axb"]],
      ["lt(created_at,2026-01-01T00:00:01Z)", ["Ada"]],
      ["eq(created_at,2026-01-01)", ["Ada"]],
      ["le(updated_at,2026-01-01T00:00:01Z):like(name,*a)", ["Bea", "Ada"]],
    ] as const) {
      expect(await namesOf(`filter=${filter}`), filter).toEqual(names);
    }
    expect(await namesOf("sort=-email&filter=like(name,*a)")).toEqual(["Bea", "Ada"]);

    const { data, meta, links } = await list(
      "filter=like(email,*@shop.example)&sort=-created_at&page[limit]=2",
    );
    expect(data[0].links.self).toBe(`${PUBLIC_URL}/v2/customers/${data[0].id}`);
    expect(meta).toEqual({ page: { limit: 2, offset: 0, current: 1, total: 3 }, results: { total: 5 } });
    const seen: string[] = [];
    for (let next = links.first; next; ) {
      const { search, origin, pathname } = new URL(next);
      expect(origin + pathname).toBe(`${PUBLIC_URL}/v2/customers`);
      const page = await list(search.slice(1));
      seen.push(...page.data.map((customer: { name: string }) => customer.name));
      expect(page.links.current).toBe(next);
      next = page.links.next;
    }
    expect(seen).toEqual(["100%", "axb", "a_b", "Bea", "Ada"]);
    expect(await namesOf(new URL(links.last).search.slice(1))).toEqual(["Ada"]);
    const walked: string[] = [];
    for (let query = "sort=id&page[limit]=2"; query !== ""; ) {
      const page = await list(query);
      walked.push(...page.data.map((customer: { name: string }) => customer.name));
      query = page.links.next === null ? "" : new URL(page.links.next).search.slice(1);
    }
    expect(walked).toEqual(byId);
  });

  test("a customer is found by a reference of any length that it may have", async () => {
    const external_ref = "crm/".padEnd(2048, "0");
    await create({ name: "Other", external_ref: `${external_ref.slice(0, -1)}1` }, shop);
    await create({ name: "Long", external_ref }, shop);
    expect(await namesOf(`filter=eq(external_ref,${external_ref})`)).toEqual(["Long"]);
  });

  test("a list has the store's own customers only, whatever it is narrowed by", async () => {
    const neighbour = await here.createStore();
    await create({ name: "Neighbour", email: "ada@shop.example" }, neighbour);
    for (const query of ["", "filter=eq(email,ada@shop.example)", "filter=like(name,*)", "sort=name"])
      expect((await list(query)).meta.results.total).toBe(0);
  });

  test("all members change in one request, and a changed e-mail is unproven", async () => {
    const { id } = (await create({ email_verified: true }, shop)).body.data;
    const change = async (data: object) =>
      (await shop.call(updateCustomer, { ids: { id }, json: { data: { type: "customer", ...data } } })).body
        .data;
    const email = newEmail();
    const all = { name: "Bea", email, external_ref: "crm-2", email_verified: true };
    expect(await change({ ...all, password: PASSWORD })).toMatchObject({ ...all, password: true });
    expect(await change({ email: email.toUpperCase() })).toMatchObject({ email_verified: true });
    expect(await change({ email: newEmail() })).toMatchObject({ email_verified: false });
  });
});

test("400 says which parameter is wrong and what it takes, in the text itself", async () => {
  const said = async (query: string) => (await store.call(listCustomers, { query })).body.errors[0].detail;
  expect(await said("filter=eq(foo,1)")).toBe(
    "`filter`: unknown field `foo`; known are email, name, external_ref, created_at, updated_at.",
  );
  expect(await said("filter=gt(email,a)")).toBe("`filter`: `email` takes eq, like, not `gt`.");
  expect(await said("filter=gt(created_at,soon)")).toMatch(/^`filter`: `created_at` takes an instant/);
  expect(await said("filter=evil")).toBe(
    "`filter`: expected operator(field,value), several joined by a colon.",
  );
  expect(await said("sort=password")).toMatch(/^`sort`: expected one of created_at, /);
  expect(await said("page[limit]=0")).toBe("`page[limit]`: expected at least 1.");
  expect(await said("page[limit]=101")).toBe("`page[limit]`: expected at most 100.");
  expect(await said("page[offset]=ten")).toBe("`page[offset]`: expected a whole number from 0 to 10000.");
  expect(await said("page[after]=%27")).toBe("`page[after]`: expected a cursor from `links.next`.");
});

test.each(["filter=eq(password,x)", "filter=email", "filter=eq(email,x", "sort=password", "sort="])(
  "400 for %s: a list that ignored it would show too much",
  async (query) => {
    const answer = await store.call(listCustomers, { query });
    expect([answer.status, answer.code]).toEqual([400, "parameter_invalid"]);
  },
);
