import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OUTCOMES } from "../src/contract/sign-ons.ts";
import { latchkey as run } from "./support/command.ts";
import { bothEngines, type TestDatabase } from "./support/engines.ts";
import { createFederation, type Federation } from "./support/federation.ts";

describe.each(bothEngines)("sign-on show on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  let others: string[];
  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
    others = [];
    // More stores than a statement searches at once.
    for (let at = 0; at < 101; at++) others.push((await f.latchkey.createStore()).store.id);
  });
  afterAll(async () => {
    await f?.close();
    await database?.drop();
  });
  const show = (...args: string[]) =>
    run(["sign-on", "show", ...args], { LATCHKEY_DATABASE_URL: database.url });

  async function fail(error: string, error_description = "") {
    f.idp.hooks.redirect = ({ state = "" }) => ({ state, error, error_description });
    const { reference } = await f.signOn();
    return f.recordOf(reference);
  }

  test.skipIf(!engine.isHere)("finds a reference or an id in any store, and names the store", async () => {
    const { id, reference } = await fail("access_denied");
    for (const named of [reference, id]) {
      const { code, stdout } = await show(named);
      expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`store +${f.store.store.id}  `))]);
      expect(stdout).toContain(reference);
    }
    const { store, sign_on } = JSON.parse((await show(reference, "--json")).stdout);
    expect([store.id, sign_on.id]).toEqual([f.store.store.id, id]);
    const elsewhere = await show(reference, "--store", others[0] as string);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining("another store's")]);
    const nowhere = await show("ZZZZ-ZZZZ");
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining("ZZZZ-ZZZZ: it was made up")]);
  });

  test.skipIf(!engine.isHere)("shows the provider's error", async () => {
    const { reference } = await fail("access_denied", "The user pressed Cancel.");
    const { stdout } = await show(reference);
    expect(stdout).toMatch(
      /\nprovider said +at the sign-in itself: access_denied, "The user pressed Cancel\."\n/,
    );
  });

  test.skipIf(!engine.isHere)("sign-on list accepts every outcome of a record", async () => {
    const { id } = await fail("access_denied");
    const { db } = f.latchkey.storage;
    for (const outcome of OUTCOMES) {
      await db.updateTable("sign_ons").set({ outcome }).where("id", "=", id).execute();
      const args = ["sign-on", "list", "--store", f.store.store.id, "--outcome", outcome, "--json"];
      const { code, stdout, stderr } = await run(args, { LATCHKEY_DATABASE_URL: database.url });
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout).sign_ons).toContainEqual(expect.objectContaining({ id, outcome }));
    }
  });

  test.skipIf(!engine.isHere)("requires the store when a reference exists in two stores", async () => {
    const { id, reference } = await fail("login_required");
    const last = others.at(-1) as string;
    const { db } = f.latchkey.storage;
    const row = await db.selectFrom("sign_ons").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    await db
      .insertInto("sign_ons")
      .values({ ...row, id: `${id.slice(0, -1)}x`, store_id: last })
      .execute();
    const both = await show(reference);
    expect([both.code, both.stderr]).toEqual([
      2,
      expect.stringContaining(`give --store ${f.store.store.id} or ${last}`),
    ]);
    expect((await show(reference, "--store", last)).code).toBe(0);
  });
});
