import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import {
  createCustomer,
  deleteCustomer,
  eraseCustomer,
  updateCustomer,
} from "../../src/contract/customers.ts";
import {
  createIntegration,
  deleteIntegration,
  rotateIntegrationSecret,
  updateIntegration,
} from "../../src/contract/integrations.ts";
import { eraseMember } from "../../src/contract/members.ts";
import { deleteProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { createRealm, deleteRealm, updateRealm } from "../../src/contract/realms.ts";
import { updateStore } from "../../src/contract/store.ts";
import { deleteStore } from "../../src/delete-store.ts";
import { byOperator } from "../../src/events/event.ts";
import { verifyLog } from "../../src/events/verify.ts";
import { enableIntegration } from "../../src/integrations/administer.ts";
import { type CarriedOver, carryOver } from "../../src/restore/carry-over.ts";
import { endRestoredRights } from "../../src/restore/end-rights.ts";
import { disableWebhooks } from "../../src/restore/webhooks.ts";
import { connectStorage } from "../../src/storage/open.ts";
import { backUp } from "../../src/storage/sqlite/backup.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Tables } from "../../src/storage/tables.ts";
import { createTestApp, getToken, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type CopiedDatabase, copyDatabase } from "../support/copied-database.ts";
import { engines, sqliteEngine, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation, SHOP } from "../support/federation.ts";
import { createMembersSide } from "../support/members.ts";
import { storedText } from "../support/stored-text.ts";

describe.each(engines)("a restore on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  let backup: CopiedDatabase;
  let restored: TestApp | undefined;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
  });
  afterEach(async () => {
    await restored?.app.stop();
    restored = undefined;
    await backup?.drop();
    await f?.close();
    await database?.drop();
  });

  const makeBackup = async () => {
    await f.latchkey.app.tidy();
    backup = await copyDatabase(engine, f.latchkey.storage, f.latchkey.clock);
  };
  /** Runs what the restore command runs, and starts a service on the restored database. */
  const restore = async (): Promise<CarriedOver> => {
    await f.latchkey.app.tidy();
    const deps = { storage: backup.storage, clock: f.latchkey.clock };
    const carried = await carryOver(deps, f.latchkey.storage);
    if (!carried) throw new Error("nothing was carried over");
    expect(carried.unread).toEqual([]);
    expect(await carryOver(deps, f.latchkey.storage)).toMatchObject({
      deleted_customers: 0,
      webhooks: 0,
      addresses: 0,
    });
    f.latchkey.clock.set((await endRestoredRights(deps)).from);
    restored = await createTestApp({ storage: backup.storage, clock: f.latchkey.clock });
    return carried;
  };
  const make = async (name: string, data: object = {}): Promise<string> => {
    const customer = {
      type: "customer",
      name,
      email: `${name}@shop.example`,
      password: "password of before",
      ...data,
    };
    return (await f.store.call(createCustomer, { json: { data: customer } })).body.data.id;
  };
  const change = (id: string, data: object) =>
    f.store.call(updateCustomer, { ids: { id }, json: { data: { type: "customer", ...data } } });
  const signIn = async (email: string, password: string) => {
    const { app } = restored as TestApp;
    const token = await getToken(app, f.store, "implicit");
    const data = { type: "token", authentication_mechanism: "password", email, password };
    return (await call(app, issueCustomerToken, { token, json: { data } })).status;
  };
  const rows = async <T extends keyof Tables>({ db }: Storage, table: T): Promise<Tables[T][]> =>
    (await db
      .selectFrom(table as "customers")
      .selectAll()
      .orderBy("id")
      .execute()) as unknown as Tables[T][];

  test("leaves no password, name or e-mail of an erased person in any table", async () => {
    const side = await createMembersSide(f);
    const id = await make("lovelace");
    await change(id, { email: "byron@ockham.example" });
    const member = await side.invite("hopper@navy.example", "support");
    f.idp.person = { ...f.idp.person, sub: "subject-0815", email: "lovelace@shop.example" };
    const shopper = (await f.redeem(await f.signOn())).body.data.customer_id;
    await f.signOn();
    await makeBackup();
    await f.store.call(eraseCustomer, { ids: { id } });
    await f.store.call(eraseCustomer, { ids: { id: shopper } });
    await f.store.call(eraseMember, { ids: { id: member } });
    expect(await restore()).toMatchObject({ erased: 3, deleted_customers: 0 });
    expect(await signIn("byron@ockham.example", "password of before")).toBe(400);
    await restored?.app.tidy();
    await backup.storage.forgetOverwritten();
    const text = (await storedText(backup.database.url, backup.storage)).toLowerCase();
    for (const trace of ["lovelace", "byron", "ockham", "hopper", "navy", "subject-0815"])
      expect(text.includes(trace), trace).toBe(false);
    expect(
      await verifyLog({ storage: backup.storage, clock: f.latchkey.clock, eventDays: 90 }, f.store.store.id),
    ).toMatchObject({ isWhole: true });
  });

  test("keeps customers deleted, and passwords and e-mails as they were last", async () => {
    const [gone, changed, one, other] = [
      await make("gone"),
      await make("changed"),
      await make("one"),
      await make("other"),
    ];
    await makeBackup();
    await f.store.call(deleteCustomer, { ids: { id: gone } });
    await change(changed, { password: "password of now" });
    // These two customers have exchanged their e-mails since the backup.
    await change(one, { email: "free@shop.example" });
    await change(other, { email: "one@shop.example" });
    await change(one, { email: "other@shop.example", email_verified: true });
    expect(await restore()).toMatchObject({ deleted_customers: 1, passwords: 1, addresses: 2 });
    expect(await signIn("gone@shop.example", "password of before")).toBe(400);
    expect(await signIn("changed@shop.example", "password of before")).toBe(400);
    expect(await signIn("changed@shop.example", "password of now")).toBe(200);
    const shown = async (storage: Storage) =>
      (await rows(storage, "customers")).map(({ id, email_key, email_verified }) => [
        id,
        email_key,
        email_verified,
      ]);
    expect(await shown(backup.storage)).toEqual(await shown(f.latchkey.storage));
  });

  test("drops removed identities, and keeps moved ones with their new customer", async () => {
    const to = await make("taker");
    for (const sub of ["unlinked", "moved"]) {
      f.idp.person = { ...f.idp.person, sub, email: `${sub}@idp.example` };
      expect((await f.redeem(await f.signOn())).status).toBe(200);
    }
    await makeBackup();
    const { db } = f.latchkey.storage;
    await db.deleteFrom("customer_identities").where("subject", "=", "unlinked").execute();
    await db
      .updateTable("customer_identities")
      .set({ customer_id: to })
      .where("subject", "=", "moved")
      .execute();
    expect(await restore()).toMatchObject({ identities: 2 });
    const left = await rows(backup.storage, "customer_identities");
    expect(left.map(({ subject, customer_id }) => [subject, customer_id])).toEqual([["moved", to]]);
  });

  test("keeps webhooks deleted, disabled, moved or with their new secret", async () => {
    const hook = async (name: string): Promise<string> => {
      const configuration = { url: `https://${name}.example/hook`, secret_key: "of before" };
      const data = {
        type: "integration",
        name,
        integration_type: "webhook",
        observes: ["customer.*"],
        configuration,
      };
      return (await f.store.call(createIntegration, { json: { data } })).body.data.id;
    };
    const [gone, off, rotated, moved] = [
      await hook("gone"),
      await hook("off"),
      await hook("rotated"),
      await hook("moved"),
    ];
    await makeBackup();
    const set = (id: string, data: object) =>
      f.store.call(updateIntegration, { ids: { id }, json: { data: { type: "integration", ...data } } });
    await f.store.call(deleteIntegration, { ids: { id: gone } });
    await set(off, { enabled: false });
    await f.store.call(rotateIntegrationSecret, { ids: { id: rotated } });
    await set(moved, {
      observes: ["customer.created"],
      configuration: { url: "https://elsewhere.example/hook", secret_key: "of now" },
    });
    expect(await restore()).toMatchObject({ webhooks: 4 });
    const shown = async (storage: Storage) =>
      (await rows(storage, "integrations")).map(
        ({ id, enabled, url, observes, sealed_secret, sealed_secret_key }) => [
          id,
          enabled,
          url,
          observes,
          sealed_secret,
          sealed_secret_key,
        ],
      );
    expect(await shown(backup.storage)).toEqual(await shown(f.latchkey.storage));
    expect((await shown(backup.storage)).map(([id]) => id)).toEqual([off, rotated, moved].sort());
  });

  test("keeps providers, redirect URIs, realms and stores removed", async () => {
    const { call: ask } = f.store;
    const realm = async (name: string): Promise<string> =>
      (
        await ask(createRealm, {
          json: { data: { type: "authentication-realm", name, redirect_uris: [SHOP] } },
        })
      ).body.data.id;
    const [doomed, narrowed] = [await realm("Doomed"), await realm("Narrowed")];
    const [gone, off] = [await f.addProfile({ name: "Gone" }), await f.addProfile({ name: "Off" })];
    const store = await f.latchkey.createStore();
    await makeBackup();
    await ask(deleteRealm, { ids: { id: doomed } });
    const rules = { type: "authentication-realm", redirect_uris: [], duplicate_email_policy: "disallowed" };
    await ask(updateRealm, { ids: { id: narrowed }, json: { data: rules } });
    const at = (profile: string) => ({ ids: { realm: f.realmId, id: profile } });
    expect((await ask(deleteProfile, at(gone))).status).toBe(204);
    const data = {
      type: "oidc-profile",
      enabled: false,
      client_secret: f.idp.clientSecrets[0],
      provisioning: "existing",
    };
    expect((await ask(updateProfile, { ...at(off), json: { data } })).status).toBe(200);
    await deleteStore(f.latchkey, store.store.id);
    expect(await restore()).toMatchObject({ stores: 1, realms: 2, profiles: 2 });
    expect((await rows(backup.storage, "stores")).map(({ id }) => id)).toEqual([f.store.store.id]);
    const realms = await rows(backup.storage, "authentication_realms");
    expect(realms.map(({ id }) => id)).not.toContain(doomed);
    expect(realms.find(({ id }) => id === narrowed)).toMatchObject({
      redirect_uris: "[]",
      duplicate_email_policy: "disallowed",
    });
    const profiles = await rows(backup.storage, "oidc_profiles");
    expect(profiles.map(({ id }) => id)).not.toContain(gone);
    expect(profiles.find(({ id }) => id === off)).toMatchObject({ enabled: 0, provisioning: "existing" });
  });

  test("handles more customers than one page has", async () => {
    for (let at = 0; at < 5; at++) await make(`made${at}`);
    const [like] = await rows(f.latchkey.storage, "customers");
    const many = Array.from({ length: 450 }, (_, at) => ({
      ...(like as NonNullable<typeof like>),
      name_key: undefined,
      id: `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`,
      email: `many${at}@shop.example`,
      email_key: `many${at}@shop.example`,
    }));
    for (let at = 0; at < many.length; at += 50)
      await f.latchkey.storage.db
        .insertInto("customers")
        .values(many.slice(at, at + 50))
        .execute();
    await makeBackup();
    await f.latchkey.storage.db.deleteFrom("customers").where("email", "like", "many%").execute();
    expect(await restore()).toMatchObject({ deleted_customers: 450 });
    expect(await rows(backup.storage, "customers")).toHaveLength(5);
  });

  test("handles an older release's database: a missing column stays as in the backup", async () => {
    const gone = await make("gone");
    await makeBackup();
    await f.store.call(deleteCustomer, { ids: { id: gone } });
    await f.latchkey.storage.db.schema
      .alterTable("authentication_realms")
      .dropColumn("profile_updates")
      .execute();
    expect(await restore()).toMatchObject({ deleted_customers: 1 });
  });

  test("without the replaced database, disables webhooks until each is enabled", async () => {
    const configuration = { url: "https://receiver.example/hook" };
    const data = {
      type: "integration",
      name: "Hook",
      integration_type: "webhook",
      observes: ["customer.*"],
      configuration,
    };
    const { body } = await f.store.call(createIntegration, { json: { data } });
    await makeBackup();
    const deps = { storage: backup.storage, clock: f.latchkey.clock };
    expect(await disableWebhooks(deps)).toBe(1);
    expect(await rows(backup.storage, "integrations")).toMatchObject([
      { enabled: 0, disabled_reason: "restored", due_at: null },
    ]);
    await enableIntegration(deps, byOperator(f.store.store.id), body.data.id);
    expect(await rows(backup.storage, "integrations")).toMatchObject([{ enabled: 1, disabled_reason: null }]);
    expect(await disableWebhooks(deps)).toBe(1);
  });
});

/** Overwrites the page of the index of customer ids: with an empty page, or with bytes that SQLite cannot read. */
function damage(file: string, isReadable: boolean): void {
  const database = new DatabaseSync(file);
  const found = database
    .prepare("select pageno from dbstat where name = 'sqlite_autoindex_customers_1' and pagetype = 'leaf'")
    .get();
  database.close();
  const page = Buffer.alloc(4096);
  if (isReadable) page.set([0x0a, 0, 0, 0, 0, 0x10, 0x00, 0]);
  const opened = openSync(file, "r+");
  writeSync(opened, page, 0, page.length, (Number(found?.pageno) - 1) * page.length);
  closeSync(opened);
}

describe("a restore from a damaged SQLite", () => {
  test.each([
    ["takes a missing row for deleted only if the log has its deletion", true, []],
    ["reports the unreadable table, and carries over the others", false, ["customers"]],
  ] as const)("%s", async (_, isReadable, unread) => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-damaged-"));
    const latchkey = await createTestApp({ databaseUrl: `sqlite:${join(folder, "now.db")}` });
    const store = await latchkey.createStore();
    const make = async (name: string): Promise<string> => {
      const json = { data: { type: "customer", name, email: `${name}@shop.example` } };
      return (await store.call(createCustomer, { json })).body.data.id;
    };
    const [gone, stays] = [await make("gone"), await make("stays")];
    await latchkey.app.tidy();
    const backup = await copyDatabase(sqliteEngine, latchkey.storage, latchkey.clock);
    await store.call(deleteCustomer, { ids: { id: gone } });
    await store.call(updateStore, { json: { data: { type: "store", name: "Later" } } });
    await latchkey.app.tidy();
    const file = join(folder, "damaged.db");
    backUp(join(folder, "now.db"), file);
    damage(file, isReadable);
    const damaged = await connectStorage(`sqlite:${file}`);
    const carried = await carryOver({ storage: backup.storage, clock: latchkey.clock }, damaged);
    expect(carried).toMatchObject({ deleted_customers: isReadable ? 1 : 0, unread });
    const left = await backup.storage.db.selectFrom("customers").select("id").orderBy("id").execute();
    expect(left.map(({ id }) => id)).toEqual(isReadable ? [stays] : [gone, stays].sort());
    await damaged.close();
    await backup.drop();
    await latchkey.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

test("docs/storage.md lists what a restore does with each table", async () => {
  const latchkey = await createTestApp();
  const tables = (await latchkey.storage.db.introspection.getTables()).map(({ name }) => name);
  await latchkey.close();
  const text = readFileSync(new URL("../../../../docs/storage.md", import.meta.url), "utf8");
  const section = text.slice(
    text.indexOf("## After a restore"),
    text.indexOf("## In the export of a customer"),
  );
  const listed = [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(listed.sort()).toEqual(tables.sort());
});
