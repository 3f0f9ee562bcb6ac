import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { authorize } from "../../src/contract/sign-on.ts";
import { getSignOn, listSignOns } from "../../src/contract/sign-ons.ts";
import { Recorder } from "../../src/sign-on-records/recorder.ts";
import { startTrail, type Trail } from "../../src/sign-on-records/trail.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { call } from "../support/call.ts";
import { createFederation, type Federation } from "../support/federation.ts";

/** The records of sign-ons, as support reads them. */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const list = async (query: string) => {
  await f.latchkey.app.tidy();
  return (await f.store.call(listSignOns, { query })).body;
};

describe("the list of records", () => {
  test("is filtered by reference, profile, outcome, reason, customer and time, newest first", async () => {
    const good = await f.redeem(await f.signOn());
    f.latchkey.clock.advance(60_000);
    f.idp.hooks.claims = (claims) => ({ ...claims, nonce: "another" });
    const failed = await f.signOn();
    const second = await f.addProfile({ name: "Second" });
    f.latchkey.clock.advance(60_000);
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    await f.signOn({ parameters: { profile: second } });

    const found = async (filter: string) =>
      (await list(`filter=${filter}`)).data.map(
        (row: { reason: string | null; outcome: string }) => row.reason ?? row.outcome,
      );
    expect((await list("")).data.map((row: { reason: string }) => row.reason)).toEqual([
      "id_token.aud",
      "id_token.nonce",
      null,
    ]);
    expect((await list("sort=started_at")).data.at(0).reason).toBeNull();
    expect(await found(`eq(reference,${failed.reference})`)).toEqual(["id_token.nonce"]);
    expect(await found(`eq(reference,${failed.reference.toLowerCase()})`)).toEqual(["id_token.nonce"]);
    expect(await found(`eq(profile_id,${second})`)).toEqual(["id_token.aud"]);
    expect(await found("eq(outcome,failed)")).toEqual(["id_token.aud", "id_token.nonce"]);
    expect(await found("eq(outcome,exchanged)")).toEqual(["exchanged"]);
    expect(await found("eq(reason,id_token.nonce)")).toEqual(["id_token.nonce"]);
    expect(await found(`eq(customer_id,${good.body.data.customer_id})`)).toEqual(["exchanged"]);
    expect(await found("ge(started_at,2026-01-01T00:02:00Z)")).toEqual(["id_token.aud"]);
    expect(await found("gt(started_at,2026-01-01T00:00:30Z):lt(started_at,2026-01-01T00:01:30Z)")).toEqual([
      "id_token.nonce",
    ]);
  });

  test("has the expected and the found value, the reason and the remedy, and never a nonce", async () => {
    f.idp.hooks.claims = (claims) => ({ ...claims, iss: "https://other.example" });
    const { reference } = await f.signOn();
    const record = await f.recordOf(reference);
    expect(record).toMatchObject({
      reason: "id_token.iss",
      error: "server_error",
      means: expect.stringContaining("names an unexpected issuer"),
      remedy: expect.stringContaining("exactly the one of the discovery document"),
      profile_name: "Hostile",
      timings: { token: expect.any(Number), identify: expect.any(Number) },
    });
    expect(record.checks.at(-1)).toEqual({
      check: "id_token.iss",
      passed: false,
      expected: f.idp.issuer,
      found: "https://other.example",
    });
  });

  test("has `expired` for a code that was not redeemed", async () => {
    await f.signOn();
    f.latchkey.clock.advance(120_000);
    expect((await list("")).data[0]).toMatchObject({ outcome: "expired", reason: "code_expired" });
  });

  test("keeps thirty days, and shows the own store's records only", async () => {
    await f.signOn();
    const [record] = (await list("")).data;
    const other = await f.latchkey.createStore();
    expect((await other.call(getSignOn, { ids: { id: record.id } })).code).toBe("sign_on_not_found");
    expect((await other.call(listSignOns)).body.data).toEqual([]);
    const countLater = async (days: number) => {
      f.latchkey.clock.advance(days * 86_400_000);
      await f.latchkey.app.tidy();
      return (await f.latchkey.storage.db.selectFrom("sign_ons").select("id").execute()).length;
    };
    expect([await countLater(29), await countLater(2)]).toEqual([1, 0]);
  });
});

describe("strangers", () => {
  test("a stranger's failures use up strangers' records only", async () => {
    const query = new URLSearchParams(f.parameters({ scope: "x" })).toString();
    const ids = { store: f.store.store.id, realm: f.realmId };
    for (let index = 0; index < 205; index++)
      await call(f.latchkey.app, authorize, { ids, query, peer: `198.51.100.${index}` });
    expect((await list("page[limit]=1")).meta.results.total).toBe(200);
    f.idp.hooks.claims = (claims) => ({ ...claims, nonce: "another" });
    const { reference } = await f.signOn();
    expect(await f.recordOf(reference)).toMatchObject({ reason: "id_token.nonce" });
    f.idp.hooks.claims = (claims) => claims;
    await f.redeem(await f.signOn());
    expect((await list("filter=eq(outcome,exchanged)")).data).toHaveLength(1);
  });
});

describe("the recorder", () => {
  const FAILED = { outcome: "failed", reason: "idp_unavailable" } as const;
  const record = (index: number, storeId = f.store.store.id): Trail => ({
    ...startTrail(
      `01890000-0000-7000-8000-${String(index).padStart(12, "0")}`,
      { storeId, realmId: f.realmId, isOfMembers: false },
      { startedAt: f.latchkey.clock.now(), source: "192.0.2.1" },
    ),
    checks: [{ check: "id_token.signature", passed: true }],
  });
  const strangers = (index: number) => ({ ...record(index), checks: [] });
  const count = async () =>
    (await f.latchkey.storage.db.selectFrom("sign_ons").select("id").execute()).length;

  test("keeps what the database refused, up to its bound, and counts the rest", async () => {
    const { storage, clock } = f.latchkey;
    const away = {
      transaction() {
        throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
      },
    };
    const fake = { ...storage, db: away } as unknown as Storage;
    const recorder = new Recorder({ storage: fake, clock });
    for (let i = 0; i < 30_000; i++) recorder.note(record(i), FAILED);
    await recorder.flush();
    for (let i = 30_000; i < 45_000; i++) recorder.note(record(i), FAILED);
    await recorder.flush();
    expect([recorder.waiting(), recorder.dropped()]).toEqual([20_000, 25_000]);
    fake.db = storage.db;
    await recorder.flush();
    expect([recorder.waiting(), await count()]).toEqual([0, 20_000]);
  });

  test("has a tenth of its room for unsigned failures", async () => {
    const recorder = new Recorder(f.latchkey);
    for (let i = 0; i < 1000; i++) recorder.note(record(i), FAILED);
    for (let i = 1000; i < 25_000; i++) recorder.note(strangers(i), FAILED);
    expect([recorder.waiting(), recorder.dropped()]).toEqual([3000, 22_000]);
    await recorder.flush();
    recorder.note(strangers(25_000), FAILED);
    expect([recorder.waiting(), recorder.dropped()]).toEqual([1, 22_000]);
  });

  test("counts a stranger's event once, also when the database repeats the transaction", async () => {
    const { storage, clock } = f.latchkey;
    const undone: Storage = {
      ...storage,
      async transact(work) {
        const first = storage.transact(async (trx) => {
          await work(trx);
          throw new Error("deadlock");
        });
        await first.catch(() => {});
        return storage.transact(work);
      },
    };
    const recorder = new Recorder({ storage: undone, clock });
    for (let i = 0; i < limits.strangerEventsAtOnce; i++) recorder.note(strangers(i), FAILED);
    await recorder.flush();
    const noted = await storage.db
      .selectFrom("event_outbox")
      .select("id")
      .where("type", "=", "sign_on.failed")
      .execute();
    expect(noted).toHaveLength(limits.strangerEventsAtOnce);
  });

  test("loses only the record of a store that is gone", async () => {
    const recorder = new Recorder(f.latchkey);
    recorder.note(record(1), FAILED);
    recorder.note(record(2, "01890000-0000-7000-8000-999999999999"), FAILED);
    recorder.note(record(3), FAILED);
    await recorder.flush();
    expect([await count(), recorder.dropped()]).toEqual([2, 1]);
  });

  test.each([["a code that was issued"], ["a code that has expired"]])(
    "writes the exchange of %s also from an instance whose clock is behind",
    async (what) => {
      const { storage, clock } = f.latchkey;
      const ahead = new Recorder({ storage, clock: { ...clock, now: () => clock.now() + 1000 } });
      ahead.note(record(1), { outcome: "code_issued", reason: null });
      await ahead.flush();
      const expired = { outcome: "expired", reason: "code_expired" };
      if (what === "a code that has expired") await storage.db.updateTable("sign_ons").set(expired).execute();
      const recorder = new Recorder(f.latchkey);
      const { id, storeId: store_id, realmId: realm_id, startedAt: exchanged_at } = record(1);
      const attempt = { id, store_id, realm_id, profile_id: f.profileId, exchanged_at };
      recorder.noteExchange(
        { ...attempt, code_expires_at: null, forget_at: 0 },
        { outcome: "exchanged", reason: null, customerId: "ada", isOfMembers: false },
      );
      await recorder.flush();
      const row = await storage.db.selectFrom("sign_ons").selectAll().executeTakeFirst();
      expect(row).toMatchObject({ outcome: "exchanged", reason: null, customer_id: "ada" });
    },
  );
});
