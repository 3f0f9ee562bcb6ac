import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { getEventHead } from "../../src/contract/events.ts";
import { jwks } from "../../src/contract/sign-on.ts";
import { updateStore } from "../../src/contract/store.ts";
import { deleteStore } from "../../src/delete-store.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type Finished, LATCHKEY, latchkey as run } from "../support/command.ts";
import { postgresEngine, sqliteEngine, type TestDatabase } from "../support/engines.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { cutOff } from "../support/log.ts";
import { until } from "../support/until.ts";

let database: TestDatabase;
let latchkey: TestApp;
let store: TestStore;
let signature: string;
let keys: string;

beforeAll(async () => {
  database = await sqliteEngine.create();
  latchkey = await createTestApp({ databaseUrl: database.url });
  store = await latchkey.createStore();
  for (const name of ["one", "two"])
    await store.call(updateStore, { json: { data: { type: "store", name } } });
  await latchkey.app.tidy();
  signature = (await store.call(getEventHead)).body.data.signature;
  keys = join(database.url.slice("sqlite:".length, database.url.lastIndexOf("/")), "keys.json");
  writeFileSync(keys, JSON.stringify((await call(latchkey.app, jwks)).body));
});
afterAll(async () => {
  await latchkey?.close();
  await database?.drop();
});

const command = (...args: string[]): Promise<Finished> =>
  run(["events", ...args], { LATCHKEY_DATABASE_URL: database.url, LATCHKEY_EVENT_DAYS: "1" });
const verify = (...args: string[]) => command("verify", "--store", store.store.id, ...args);

/** A `tail` that has printed the existing events. `ended`: its exit code and its other output. */
async function follow({ store: { id } }: TestStore) {
  const child = spawn(process.execPath, [LATCHKEY, "events", "tail", "--store", id], {
    env: { PATH: process.env.PATH, LATCHKEY_DATABASE_URL: database.url },
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const ended = once(child, "close").then((how) => [how, said]);
  await once(child.stdout, "data");
  return { child, ended };
}

test("verify: exit 0 for a complete log, also against a witness; 1 with the first bad sequence", async () => {
  const whole = await verify();
  expect([whole.code, whole.stdout]).toEqual([0, "whole: 4 events, up to sequence 4\n"]);
  expect((await verify("--head", signature)).code).toBe(0);
  expect((await verify("--head", signature, "--keys", keys)).code).toBe(0);
  const { db } = latchkey.storage;
  await db.updateTable("events").set({ time: 1 }).where("sequence", "=", 3).execute();
  const altered = await verify();
  expect([altered.code, altered.stderr]).toEqual([1, expect.stringContaining("sequence 3 was altered")]);
  const json = await verify("--json");
  expect([json.code, JSON.parse(json.stdout)]).toEqual([1, { whole: false, sequence: 3, what: "altered" }]);
  await db.deleteFrom("events").where("sequence", "=", 2).execute();
  expect((await verify()).stderr).toContain("sequence 2 was removed");
});

test("verify: a head older than the retained log proves nothing, and the output explains the risk of a rewritten log", async () => {
  const second = await latchkey.createStore();
  const rename = (name: string) => second.call(updateStore, { json: { data: { type: "store", name } } });
  await latchkey.app.tidy();
  const witnessed = (await second.call(getEventHead)).body.data;
  for (const name of ["one", "two", "three"]) await rename(name);
  await latchkey.app.tidy();
  const forget = (last: number) => cutOff(latchkey.storage, second.store.id, last);
  const verifySecond = () => command("verify", "--store", second.store.id, "--head", witnessed.signature);
  await forget(Number(witnessed.sequence));
  expect((await verifySecond()).code).toBe(0);
  const patient = { LATCHKEY_DATABASE_URL: database.url, LATCHKEY_EVENT_DAYS: "3650" };
  const early = await run(["events", "verify", "--store", second.store.id], patient);
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("is not 3650 days old yet")]);
  await forget(Number(witnessed.sequence) + 1);
  const { code, stdout, stderr } = await verifySecond();
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("nothing to compare it with")]);
});

test("verify: an emptied event, a beginning without proof and a row outside the log are named", async () => {
  const third = await latchkey.createStore();
  await latchkey.app.tidy();
  const verifyThird = async (...args: string[]) => {
    const { code, stdout, stderr } = await command("verify", "--store", third.store.id, ...args);
    return [code, args.length > 0 ? JSON.parse(stdout).what : stderr];
  };
  const { db } = latchkey.storage;
  const events = db.updateTable("events").where("store_id", "=", third.store.id);
  await events.set({ data: '"(erased)"', salt: null, actor_id: null }).where("sequence", "=", 2).execute();
  expect(await verifyThird()).toEqual([1, expect.stringContaining("sequence 2 was erased, but no erasure")]);
  expect(await verifyThird("--json")).toEqual([1, "blanked"]);
  await cutOff(latchkey.storage, third.store.id, 1);
  const heads = db.updateTable("event_heads").where("store_id", "=", third.store.id);
  await heads.set({ forgotten_event: null }).execute();
  expect(await verifyThird()).toEqual([1, expect.stringContaining("nothing proves that this event")]);
  await events.set({ sequence: 9 }).execute();
  expect(await verifyThird()).toEqual([1, expect.stringContaining("sequence 3, which is outside the log")]);
});

test("verify: a head with a foreign signature, or whose key is deleted, is refused with the remedy", async () => {
  const [header = "", payload = "", signed = ""] = signature.split(".");
  const claims = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), sequence: "3" };
  const forged = [header, Buffer.from(JSON.stringify(claims)).toString("base64url"), signed].join(".");
  expect(await verify("--head", forged)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is not right"),
  });
  expect((await verify("--head", "x.y.z")).stderr).toContain("not the signature of a head");
  await latchkey.storage.db.deleteFrom("signing_keys").execute();
  expect((await verify("--head", signature)).stderr).toContain("Give --keys");
  expect((await verify("--head", signature, "--keys", "/nowhere.json")).stderr).toContain(
    "cannot read a key set",
  );
});

test("verify: a file that is no key set is refused with an explanation, and so is a key set without a head", async () => {
  const file = keys.replace("keys.json", "others.json");
  const kept = JSON.parse(readFileSync(keys, "utf8")).keys;
  const spoilt = kept.map((key: object) => ({ ...key, x: "AA", y: "AA" }));
  for (const set of [{}, [], { keys: "x" }, { keys: [null] }, { keys: spoilt }]) {
    writeFileSync(file, JSON.stringify(set));
    const { code, stdout, stderr } = await verify("--head", signature, "--keys", file);
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(file)]);
    expect(stderr).not.toContain("    at ");
  }
  const alone = await verify("--keys", keys);
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("give both")]);
});

test("tail: one line an event, in words or as JSON", async () => {
  const words = await command("tail", "--store", store.store.id, "--once");
  const lines = words.stdout.trim().split("\n");
  expect(lines[0]).toMatch(
    /^#1 {2}2026-01-01T00:00:00\.000Z {2}application_key\.created {2}\S+ {2}by operator$/,
  );
  expect(lines.at(-1)).toMatch(/^#4 .*store\.updated.* by application_key First key; name "one" -> "two"$/);
  const json = await command("tail", "--store", store.store.id, "--after", "3", "--once", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ specversion: "1.0", sequence: "4", type: "store.updated" });
  expect((await command("tail", "--store", "nobody", "--once")).code).toBe(1);
});

test("tail: reports that it begins after the end of the log, and writes nothing at its end", async () => {
  const after = (sequence: string) =>
    command("tail", "--store", store.store.id, "--after", sequence, "--once");
  const beyond = await after("4000");
  expect([beyond.code, beyond.stdout]).toEqual([0, ""]);
  expect(beyond.stderr).toContain(
    "the log ends at sequence 4: there is nothing to show before sequence 4001 comes",
  );
  expect((await after("4")).stderr).not.toContain("the log ends");
});

test("tail: ends with the next event when its reader has closed the pipe, as with `| head -1`", async () => {
  const { child, ended } = await follow(store);
  child.stdout.destroy();
  await until(async () => {
    await store.call(updateStore, { json: { data: { type: "store", name: "More" } } });
    await store.call(updateStore, { json: { data: { type: "store", name: "Less" } } });
    await latchkey.app.tidy();
    return child.exitCode !== null;
  });
  expect(await ended).toEqual([[0, null], `database: ${database.url}\n`]);
});

test("tail: reports that its store is deleted, and ends", async () => {
  const followed = await latchkey.createStore();
  await latchkey.app.tidy();
  const { ended } = await follow(followed);
  await deleteStore(latchkey, followed.store.id);
  // The look may come during the deletion of the store, or after it.
  expect(await ended).toEqual([
    [1, null],
    expect.stringMatching(`\nlatchkey: .* store ${followed.store.id}`),
  ]);
});

test("tail: continues where it was after the database was away", async ({ skip }) => {
  if (!postgresEngine.isHere) skip("PostgreSQL is not installed");
  const server = await postgresEngine.create();
  const line = await startFaultProxy(Number(new URL(server.url).port));
  const app = await createTestApp({ databaseUrl: server.url });
  const followed = await app.createStore();
  const rename = async (name: string) => {
    await followed.call(updateStore, { json: { data: { type: "store", name } } });
    await app.app.tidy();
  };
  await rename("before");
  const child = spawn(process.execPath, [LATCHKEY, "events", "tail", "--store", followed.store.id], {
    env: { PATH: process.env.PATH, LATCHKEY_DATABASE_URL: line.via(server.url) },
  });
  const exited = once(child, "exit");
  let shown = "";
  child.stdout.on("data", (chunk) => {
    shown += chunk;
  });
  await until(() => shown.includes('"before"'));
  line.refuse();
  line.cut();
  await rename("meanwhile");
  const opened = line.opened();
  // `tail` has failed to read once.
  await until(() => line.opened() > opened + 5 || child.exitCode !== null);
  line.mend();
  await until(() => shown.includes('"meanwhile"') || child.exitCode !== null);
  expect([child.exitCode, shown.match(/"meanwhile"/g)]).toEqual([null, ['"meanwhile"']]);
  child.kill("SIGTERM");
  await exited;
  await app.close();
  await line.close();
  await server.drop();
});
