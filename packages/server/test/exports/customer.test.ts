import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApplicationKey } from "../../src/contract/application-keys.ts";
import { exportCustomer } from "../../src/contract/customer-export.ts";
import {
  createCustomer,
  deleteCustomer,
  eraseCustomer,
  getCustomer,
  updateCustomer,
} from "../../src/contract/customers.ts";
import { listEvents } from "../../src/contract/events.ts";
import { limits } from "../../src/contract/limits.ts";
import { createTestApp, getToken } from "../support/app.ts";
import { call, toRequest } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { mostInOneTurn } from "../support/statements.ts";

const ADA = {
  sub: "subject-of-the-exported-0815",
  email: "ada@analytical.example",
  email_verified: true,
  name: "Ada Lovelace",
};
const UNKNOWN = "01890000-0000-7000-8000-000000000000";

describe.each(engines)("the export of a customer, on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
    f.idp.person = { ...f.idp.person, ...ADA };
  });
  afterEach(async () => {
    await f?.close();
    await database?.drop();
  });

  const signIn = async (): Promise<string> => {
    const { body } = await f.redeem(await f.signOn());
    return body.data.customer_id;
  };
  const change = (id: string, data: object) =>
    f.store.call(updateCustomer, { ids: { id }, json: { data: { type: "customer", ...data } } });
  const ask = (id: string) => f.store.call(exportCustomer, { ids: { id } });
  const create = async (name: string, email: string): Promise<string> =>
    (await f.store.call(createCustomer, { json: { data: { type: "customer", name, email } } })).body.data.id;

  test("has the customer, identities, sessions, sign-ons, earlier names and addresses, and events", async () => {
    const id = await signIn();
    await change(id, { name: "Augusta Ada King" });
    await change(id, { email: "ada@ockham.example", name: "Ada Byron" });
    await change(id, { email: ADA.email, email_verified: true });
    await signIn();
    await f.latchkey.app.tidy();
    const { headers, body } = await ask(id);
    expect(headers.get("content-disposition")).toBe(`attachment; filename="customer-${id}-2026-01-01.json"`);
    expect(headers.get("content-type")).toBe("application/json");
    expect(body.data).toMatchObject({ type: "customer-export", id, exported_at: "2026-01-01T00:00:00.000Z" });
    expect(body.data.customer).toEqual((await f.store.call(getCustomer, { ids: { id } })).body.data);
    expect(body.data.identities).toMatchObject([{ subject: ADA.sub, profile_id: f.profileId }]);
    expect(body.data.sessions).toHaveLength(2);
    expect(body.data.sessions[0]).toMatchObject({ authentication_mechanism: "oidc", subject: ADA.sub });
    expect(
      body.data.earlier.map(({ member, value }: { member: string; value: string }) => [member, value]),
    ).toEqual([
      ["name", "Ada Lovelace"],
      ["name", "Augusta Ada King"],
      ["email", "ada@analytical.example"],
      ["email", "ada@ockham.example"],
      ["name", "Ada Byron"],
    ]);
    expect(body.data.sign_ons.map(({ customer_id }: { customer_id: string }) => customer_id)).toEqual([
      id,
      id,
    ]);
    const types = body.data.events.map(({ type }: { type: string }) => type);
    expect(types.slice(0, 3).sort()).toEqual([
      "customer.created",
      "customer.identity_linked",
      "customer_token.created",
    ]);
    const sequences = body.data.events.map(({ sequence }: { sequence: string }) => Number(sequence));
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    expect(new Set(sequences).size).toBe(sequences.length);
  });

  test("has nothing of another customer, and no password hash or token", async () => {
    const id = await signIn();
    await change(id, { password: "correct horse battery" });
    f.idp.person = { ...f.idp.person, sub: "another", email: "eve@other.example", name: "Eve Other" };
    const other = await signIn();
    await f.latchkey.app.tidy();
    const text = JSON.stringify((await ask(id)).body);
    for (const trace of [other, "eve@other.example", "Eve Other", "another"])
      expect(text).not.toContain(trace);
    expect(text).not.toMatch(/argon2|eyJ/);
    expect(text).toContain('"password":true');
  });

  test("has sign-ons that came to no customer under the proven address, and under no other", async () => {
    const id = await signIn();
    await f.signOn();
    const strange = await create("Stranger", ADA.email);
    await f.latchkey.app.tidy();
    const ofAda = (await ask(id)).body.data.sign_ons.map(
      ({ customer_id }: { customer_id: string | null }) => customer_id,
    );
    expect(ofAda).toEqual([id, null]);
    expect((await ask(strange)).body.data.sign_ons).toEqual([]);
  });

  test("leaves the event `customer.exported`, by the caller and without the data", async () => {
    const id = await create("Ada Lovelace", ADA.email);
    await ask(id);
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: "types=customer.exported" });
    expect(body.data).toMatchObject([
      {
        type: "customer.exported",
        subject: id,
        data: { resource: { type: "customer", id }, actor: { type: "application_key" } },
      },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/Lovelace|analytical/);
    const again = (await ask(id)).body.data.events.map(({ type }: { type: string }) => type);
    expect(again).toEqual(["customer.created", "customer.exported"]);
  });

  test("404 for erased, unknown and other stores' customers alike; a refused export leaves no event", async () => {
    const id = await signIn();
    const other = await f.latchkey.createStore();
    const refusals = [await other.call(exportCustomer, { ids: { id } }), await ask(UNKNOWN)];
    await f.latchkey.app.tidy();
    await f.store.call(eraseCustomer, { ids: { id } });
    refusals.push(await ask(id));
    await f.latchkey.app.tidy();
    refusals.push(await ask(id));
    for (const { status, body } of refusals) {
      const [{ code, detail }] = body.errors;
      expect([status, code, detail]).toEqual([404, "customer_not_found", refusals[0]?.body.errors[0].detail]);
    }
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: "types=customer.exported" });
    expect(body.data).toEqual([]);
  });

  test("404 while an erasure has events left to blank", async () => {
    const id = await create("Ada Lovelace", ADA.email);
    await f.latchkey.app.tidy();
    await f.store.call(deleteCustomer, { ids: { id } });
    expect((await ask(id)).status).toBe(200);
    const erasure = { store_id: f.store.store.id, person_id: id, asked_at: 0, email_digest: null };
    await f.latchkey.storage.db.insertInto("event_erasures").values(erasure).execute();
    expect((await ask(id)).status).toBe(404);
  });

  test("a customer who was deleted is exported as far as the log still holds them", async () => {
    const id = await create("Ada Lovelace", ADA.email);
    await change(id, { name: "Ada Byron" });
    await f.store.call(deleteCustomer, { ids: { id } });
    await f.latchkey.app.tidy();
    const { data } = (await ask(id)).body;
    expect([data.customer, data.identities, data.sessions]).toEqual([null, [], []]);
    expect(data.earlier).toMatchObject([{ member: "name", value: "Ada Lovelace" }]);
    expect(data.events.map(({ type }: { type: string }) => type)).toEqual([
      "customer.created",
      "customer.updated",
      "customer.deleted",
    ]);
  });

  test("403 for other roles, and for the customer", async () => {
    const id = await create("Ada Lovelace", ADA.email);
    for (const role of ["viewer", "support"]) {
      const made = await f.store.call(createApplicationKey, {
        json: { data: { type: "application_key", name: role, role } },
      });
      const { client_id: clientId, client_secret: clientSecret } = made.body.data;
      const key = { id: made.body.data.id, clientId, clientSecret };
      const token = await getToken(f.latchkey.app, { ...f.store, key }, "client_credentials");
      const refused = await call(f.latchkey.app, exportCustomer, { token, ids: { id } });
      expect([refused.status, refused.code]).toEqual([403, "role_insufficient"]);
    }
    const refused = await call(f.latchkey.app, exportCustomer, { token: f.implicit, ids: { id } });
    expect([refused.status, refused.code]).toEqual([403, "not_permitted"]);
  });

  test("429 when the store has made its exports of the hour; a 404 counts as none", async () => {
    const id = await create("Ada Lovelace", ADA.email);
    for (let at = 0; at < limits.exportsPerHour; at++) expect((await ask(UNKNOWN)).status).toBe(404);
    for (let at = 0; at < limits.exportsPerHour; at++) expect((await ask(id)).status).toBe(200);
    expect((await ask(id)).code).toBe("exports_exceeded");
  });

  test("of many sign-ons comes in pieces, a few statements in a turn of the event loop", async () => {
    const id = await signIn();
    await f.latchkey.app.tidy();
    const { db } = f.latchkey.storage;
    const row = await db.selectFrom("sign_ons").selectAll().executeTakeFirstOrThrow();
    const rowOf = (at: number) => ({
      ...row,
      id: `01890000-0000-7000-8000-${String(at).padStart(12, "0")}`,
      customer_id: id,
      started_at: at,
    });
    for (let from = 0; from < 5000; from += 500)
      await db
        .insertInto("sign_ons")
        .values(Array.from({ length: 500 }, (_, at) => rowOf(from + at)))
        .execute();
    const sizes: number[] = [];
    const read = async () => {
      const response = await f.latchkey.app.fetch(
        toRequest(exportCustomer, { ids: { id }, token: await f.store.token() }),
      );
      let text = "";
      for await (const piece of response.body ?? []) {
        sizes.push(piece.length);
        text += Buffer.from(piece).toString();
      }
      expect(JSON.parse(text).data.sign_ons.length).toBeGreaterThanOrEqual(5000);
    };
    const most = await mostInOneTurn(f.latchkey.storage, async (watched) => {
      f.latchkey.storage.db = watched.db;
      await read();
      f.latchkey.storage.db = db;
    });
    expect(most).toBeLessThan(8);
    expect(sizes.length).toBeGreaterThan(50);
    expect(Math.max(...sizes)).toBeLessThan(300_000);
  });
});

const documentation = readFileSync(new URL("../../../../docs/storage.md", import.meta.url), "utf8");
const lines = (documentation.split("## In the export of a customer")[1]?.split("\n## ")[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| `"));
const namesIn = (text = ""): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);

test("docs/storage.md says of each table whether an export has it, or why not", async () => {
  const latchkey = await createTestApp();
  const tables = (await latchkey.storage.db.introspection.getTables()).map(({ name }) => name);
  await latchkey.close();
  expect(lines.flatMap((line) => namesIn(line.split("|")[1])).toSorted()).toEqual(tables.toSorted());
});

test("every column of an exported table is in the file, or docs/storage.md names it as left out", async () => {
  const f = await createFederation();
  f.idp.person = { ...f.idp.person, ...ADA };
  const { body: redeemed } = await f.redeem(
    await f.signOn(),
    {},
    {
      headers: { "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/126.0.0.0 Safari/537.36" },
    },
  );
  const id: string = redeemed.data.customer_id;
  await f.latchkey.app.tidy();
  const { db } = f.latchkey.storage;
  const marks = { external_ref: "marked reference", password_hash: "marked hash" };
  await db.updateTable("customers").set(marks).execute();
  await db.updateTable("customer_tokens").set({ idp_session: "marked session" }).execute();
  const text = JSON.stringify((await f.store.call(exportCustomer, { ids: { id } })).body);
  const exported = lines.filter((line) => line.split("|")[2]?.trim().startsWith("exported"));
  expect(exported).toHaveLength(5);
  const columns = { customers: "id", events: "person_id" } as Record<string, string>;
  for (const line of exported) {
    const [table = ""] = namesIn(line.split("|")[1]);
    const omitted = new Set([...namesIn(line.split("Left out")[1]), "store_id", "data"]);
    const { rows } = await sql<Record<string, unknown>>`
      select * from ${sql.table(table)} where ${sql.ref(columns[table] ?? "customer_id")} = ${id}`.execute(
      db,
    );
    expect(rows.length, table).toBeGreaterThan(0);
    for (const row of rows)
      for (const [name, value] of Object.entries(row)) {
        const isCompared = typeof value === "string" && value.length > 5 && !value.startsWith("[");
        if (isCompared && !omitted.has(name)) expect(text, `${table}.${name}`).toContain(value);
        if (name === "password_hash" || name === "email_digest") expect(text).not.toContain(value);
      }
  }
  await f.close();
});
