import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { postgresEngine } from "../../packages/server/test/support/engines.ts";
import {
  createStore,
  getToken,
  type Made,
  newPlace,
  type Place,
  type Running,
  serve,
} from "../support/running.ts";

/** The runbook of docs/back-up-and-restore.md, walked: its commands are read from there. */

const runbook = readFileSync(new URL("../../docs/back-up-and-restore.md", import.meta.url), "utf8");

/** The command of the runbook that begins with this text, with its file in the test's folder. */
function typed(beginning: string): string[] {
  const line = runbook.split("\n").find((text) => text.startsWith(`npx latchkey ${beginning}`));
  if (!line) throw new Error(`docs/back-up-and-restore.md does not say: npx latchkey ${beginning}`);
  return line
    .replace("npx latchkey ", "")
    .split(" ")
    .map((word) => (word.endsWith(".db") ? join(place.folder, word) : word));
}

let place: Place;
let running: Running | undefined;

beforeEach(async () => {
  place = await newPlace();
});
afterEach(async () => {
  await stop();
  place.leave();
});

async function start(): Promise<void> {
  running = await serve(place);
}
async function stop(): Promise<void> {
  running?.child.kill("SIGTERM");
  await running?.exited;
  running = undefined;
}
const run = (...args: string[]) => latchkey(args, place.env);
const inDatabase = () => join(place.folder, "latchkey.db");
const inBackup = () => typed("backup")[1] as string;

const statusOf = async (token: string, path = "/v2/store", customerToken?: string) => {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(customerToken && { "x-customer-token": customerToken }),
  };
  return (await fetch(`${place.url}${path}`, { headers })).status;
};

async function post(token: string, path: string, data: object) {
  const answer = await fetch(`${place.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ data }),
  });
  return ((await answer.json()) as { data: { id: string; token: string; customer_id: string } }).data;
}

const ADA = { type: "customer", name: "Ada", email: "ada@shop.example", password: "correct horse" };
const signIn = (token: string, { email, password } = ADA) =>
  post(token, "/v2/customers/tokens", {
    type: "token",
    authentication_mechanism: "password",
    email,
    password,
  });

describe("backup while it runs, changes, stop, restore, start", () => {
  let made: Made;
  let token: string;

  beforeEach(async () => {
    await start();
    made = await createStore(place);
    token = await getToken(place.url, made);
  });

  test("the contents of the backup are there, later changes are not; every earlier token is dead, new ones work", async () => {
    const ada = await post(token, "/v2/customers", ADA);
    const before = await signIn(token);
    const backedUp = await latchkey(typed("backup"), place.env);
    expect([backedUp.code, backedUp.stdout]).toEqual([0, expect.stringContaining("backed up to")]);
    const later = await post(token, "/v2/customers", { ...ADA, name: "Bea", email: "bea@shop.example" });
    const since = await signIn(token);
    const path = `/v2/customers/${ada.id}`;
    const publicToken = await getToken(place.url, made, "implicit");
    for (const { token: customerToken } of [before, since])
      expect(await statusOf(publicToken, path, customerToken)).toBe(200);

    await stop();
    const restored = await latchkey(typed("restore"), place.env);
    expect(restored.stdout).toContain("ended: every access token, 1 customer tokens");
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining("is kept as")]);
    await start();

    expect(await statusOf(token)).toBe(401);
    const fresh = await getToken(place.url, made);
    expect(await statusOf(fresh)).toBe(200);
    expect(await statusOf(fresh, path)).toBe(200);
    expect(await statusOf(fresh, `/v2/customers/${later.id}`)).toBe(404);
    const freshPublic = await getToken(place.url, made, "implicit");
    for (const { token: customerToken } of [before, since])
      expect(await statusOf(freshPublic, path, customerToken)).toBe(403);
    const { token: customerToken } = await signIn(fresh);
    expect(await statusOf(freshPublic, path, customerToken)).toBe(200);
  });

  test("a key deleted after the backup and a secret rotated out after it stay void, and the new secret works", async () => {
    const store = ["--store", made.store.id];
    const create = async (name: string) =>
      JSON.parse((await run("key", "create", ...store, "--name", name, "--json")).stdout).application_key;
    const [doomed, rotated] = [await create("Doomed"), await create("Rotated")];
    await latchkey(typed("backup"), place.env);
    await run("key", "delete", ...store, "--id", doomed.id, "--yes");
    const again = await run("key", "rotate", ...store, "--id", rotated.id, "--json");
    const fresh = JSON.parse(again.stdout).application_key;
    await stop();
    const { stdout } = await run("restore", inBackup(), "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      ended: { rotated_secrets: 1 },
      carried_over: { deleted_keys: 1, rotated_keys: 1, passwords: 0, removed_members: 0, roles: 0 },
    });
    await start();
    const of = (application_key: Made["application_key"]) =>
      getToken(place.url, { store: made.store, application_key });
    expect(await of(doomed)).toBeUndefined();
    expect(await of(rotated)).toBeUndefined();
    expect(await of(fresh)).toBeTruthy();
    expect(await getToken(place.url, made)).toBeTruthy();
  });

  test("a password that was changed after the backup stays changed", async () => {
    const ada = await post(token, "/v2/customers", ADA);
    await latchkey(typed("backup"), place.env);
    const changed = { ...ADA, password: "battery staple" };
    await fetch(`${place.url}/v2/customers/${ada.id}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ data: changed }),
    });
    await stop();
    const { stdout } = await run("restore", inBackup(), "--json");
    expect(JSON.parse(stdout).carried_over.passwords).toBe(1);
    await start();
    const fresh = await getToken(place.url, made);
    expect(await signIn(fresh)).toBeUndefined();
    expect((await signIn(fresh, changed)).token).toBeTruthy();
  });
});

describe("a backup", () => {
  beforeEach(() => createStore(place));

  test("is readable by its owner alone, is complete, and overwrites nothing", async () => {
    expect((await run("backup", inBackup())).code).toBe(0);
    expect(statSync(inBackup()).mode & 0o777).toBe(0o600);
    const before = readFileSync(inBackup());
    await createStore(place);
    const second = await run("backup", inBackup());
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("nothing is overwritten")]);
    expect(readFileSync(inBackup()).equals(before)).toBe(true);
    expect(readdirSync(place.folder).filter((name) => name.endsWith(".part"))).toEqual([]);
    const copy = new DatabaseSync(inBackup(), { readOnly: true });
    expect(copy.prepare("select count(*) as stores from stores").get()).toEqual({ stores: 1 });
    copy.close();
  });

  test("is not made of a foreign database, and leaves no file behind", async () => {
    const other = join(place.folder, "recipes.db");
    new DatabaseSync(other).exec("create table recipes (id text)");
    const env = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${other}` };
    const { code, stderr } = await latchkey(["backup", "--json", inBackup()], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining("is not a database of latchkey")]);
    expect(existsSync(inBackup())).toBe(false);
  });

  test("removes the leftovers of killed backups in its folder, and nothing of a running one", async () => {
    const inFolder = (name: string) => join(place.folder, name);
    const [killed, torn, begun, written] = ["1", "2", "3", "4"].map((at) => `latchkey-backup-${at}.part`) as [
      string,
      string,
      string,
      string,
    ];
    const half = new DatabaseSync(inFolder(killed));
    half.exec("create table stores (id text)");
    half.close();
    for (const name of [torn, `${torn}-journal`])
      writeFileSync(inFolder(name), "nothing that SQLite can read");
    writeFileSync(inFolder(begun), "");
    writeFileSync(inFolder("holiday.part"), "somebody else's");
    const other = new DatabaseSync(inFolder(written));
    other.exec("create table stores (id text); begin immediate");
    expect((await run("backup", inBackup())).code).toBe(0);
    const left = readdirSync(place.folder).filter((name) => name.includes(".part"));
    expect(left.toSorted()).toEqual(["holiday.part", begun, written]);
    other.exec("rollback");
    other.close();
  });

  test("of an unreadable database names the database, and leaves no file behind", async () => {
    const garbled = join(place.folder, "garbled.db");
    writeFileSync(garbled, "damaged".repeat(1000));
    const torn = join(place.folder, "torn.db");
    const made = new DatabaseSync(torn);
    made.exec(
      "pragma page_size = 512; create table schema_migrations (id text); create table stores (id text)",
    );
    made.exec(
      "insert into stores select hex(randomblob(100)) from sqlite_master, sqlite_master, sqlite_master",
    );
    made.close();
    writeFileSync(torn, readFileSync(torn).fill(0x55, 3 * 512));
    for (const path of [garbled, torn]) {
      const env = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${path}` };
      const { code, stderr } = await latchkey(["backup", inBackup()], env);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`cannot read the database ${path}: `)]);
      expect(existsSync(inBackup())).toBe(false);
    }
  });

  test("that cannot be written is explained, and leaves no file behind", async () => {
    const { code, stderr } = await run("backup", join(place.folder, "no-such-folder", "backup.db"));
    expect([code, stderr]).toEqual([1, expect.stringContaining("cannot write the backup")]);
    expect(stderr).not.toContain("    at ");
  });
});

describe("a restore", () => {
  beforeEach(async () => {
    await createStore(place);
    await run("backup", inBackup());
  });

  const expectRefused = async (words: string, ...args: string[]) => {
    const before = readFileSync(inDatabase());
    const { code, stdout, stderr } = await run("restore", ...args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("    at ");
    expect(readFileSync(inDatabase()).equals(before)).toBe(true);
    expect(readdirSync(place.folder).filter((name) => /restoring|replaced/.test(name))).toEqual([]);
  };

  test("is refused while a service runs", async () => {
    await start();
    const { code, stderr } = await run("restore", inBackup());
    expect([code, stderr]).toEqual([1, expect.stringContaining("Stop the service first")]);
  });

  test("through a link replaces the target of the link, and keeps the link", async () => {
    const link = join(place.folder, "link.db");
    symlinkSync(inDatabase(), link);
    const env = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${link}` };
    const { code, stdout } = await latchkey(["restore", "--json", inBackup()], env);
    expect([code, JSON.parse(stdout).restored]).toEqual([0, realpathSync(inDatabase())]);
    expect(realpathSync(link)).toBe(realpathSync(inDatabase()));
  });

  test("from a missing file creates no folder and no lock", async () => {
    const env = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${join(place.folder, "new", "latchkey.db")}` };
    const { code, stderr } = await latchkey(["restore", join(place.folder, "missing.db")], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining("there is no file")]);
    expect(existsSync(join(place.folder, "new"))).toBe(false);
  });

  test("is refused from a file that is no sound database of latchkey, and changes nothing", async () => {
    const bad = join(place.folder, "bad.db");
    await expectRefused("there is no file", join(place.folder, "missing.db"));
    await expectRefused("cannot copy", place.folder);
    writeFileSync(bad, "not a database at all".repeat(100));
    await expectRefused("is not a sound SQLite database", bad);
    const bytes = readFileSync(inBackup());
    bytes.fill(0xff, 8192, 12_288);
    writeFileSync(bad, bytes);
    await expectRefused("cannot be restored", bad);
  });

  test("is refused from a foreign database, and from an incomplete file", async () => {
    const other = join(place.folder, "other.db");
    new DatabaseSync(other).exec("create table recipes (id text)");
    await expectRefused("it is not a database of latchkey", other);
    copyFileSync(inBackup(), join(place.folder, "live.db"));
    writeFileSync(join(place.folder, "live.db-wal"), "frames");
    await expectRefused("is not a backup", join(place.folder, "live.db"));
    await expectRefused("is the database itself", inDatabase());
  });

  test("is refused while another program has the database open, and changes nothing", async () => {
    const other = new DatabaseSync(inDatabase());
    other.exec("pragma journal_mode = wal; begin; select * from stores;");
    await expectRefused("another program works on", inBackup());
    other.close();
  });

  test("replaces a damaged database, keeps the damaged file, and lists what could not be carried over", async () => {
    chmodSync(inDatabase(), 0o600);
    writeFileSync(inDatabase(), "damaged".repeat(1000));
    const { code, stdout, stderr } = await run("restore", inBackup());
    expect([code, stdout]).toEqual([0, expect.stringContaining("--rotate-secrets")]);
    expect(stderr).toContain("cannot be read");
    const kept = readdirSync(place.folder).find((name) => name.includes(".replaced-"));
    expect(readFileSync(join(place.folder, kept ?? ""), "utf8")).toContain("damageddamaged");
    expect(statSync(inDatabase()).mode & 0o777).toBe(0o600);
    const { stores } = JSON.parse((await run("store", "list", "--json")).stdout);
    expect(stores).toHaveLength(1);
  });

  test("rotates the secret of every key on request, where it is unknown which were rotated out", async () => {
    const made = await createStore(place);
    const { code, stdout } = await run(
      ...typed("after-restore").slice(0, 1),
      "--rotate-secrets",
      "--yes",
      "--json",
    );
    expect(code).toBe(0);
    const { secrets, ended, carried_over } = JSON.parse(stdout);
    expect([secrets.length, ended.stores, carried_over]).toEqual([2, 2, null]);
    await start();
    expect(await getToken(place.url, made)).toBeUndefined();
    const fresh = secrets.find((secret: { store_id: string }) => secret.store_id === made.store.id);
    expect(await getToken(place.url, { ...made, application_key: fresh })).toBeTruthy();
  });

  test.skipIf(!postgresEngine.isHere)("shows its own message, and none of a PostgreSQL server", async () => {
    const database = await postgresEngine.create();
    const env = { LATCHKEY_DATABASE_URL: database.url };
    await createStore({ env });
    const itself = Object.assign(new URL(database.url), { hostname: "localhost" }).href;
    expect(itself).not.toBe(database.url);
    const { code, stdout, stderr } = await latchkey(["after-restore", "--replaced", itself], env);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining("names the database itself")]);
    await database.drop();
  });

  test("carries nothing over, and deletes no key, from a database of another origin or restored from another backup", async () => {
    const elsewhere = {
      ...place,
      env: { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${join(place.folder, "anew.db")}` },
    };
    await createStore(elsewhere);
    for (const _ of ["made anew", "restored"]) {
      const { code, stdout, stderr } = await latchkey(["restore", inBackup(), "--json"], elsewhere.env);
      expect([code, JSON.parse(stdout).carried_over]).toEqual([0, null]);
      expect(stderr).toContain("nothing was carried over");
    }
    const database = new DatabaseSync(join(place.folder, "anew.db"), { readOnly: true });
    expect(database.prepare("select count(*) as keys from application_keys").get()).toEqual({ keys: 1 });
    database.close();
  });

  test("after-restore changes nothing when --replaced names another database; it can run again with the right one", async () => {
    const made = await createStore(place);
    const wrong = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${join(place.folder, "wrong.db")}` };
    await createStore({ env: wrong });
    const url = wrong.LATCHKEY_DATABASE_URL;
    const { code, stdout, stderr } = await run("after-restore", "--replaced", url);
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("Nothing was changed")]);
    const link = join(place.folder, "link.db");
    symlinkSync(inDatabase(), link);
    for (const spelling of [inDatabase(), relative(process.cwd(), inDatabase()), link]) {
      const itself = await run("after-restore", "--replaced", `sqlite:${spelling}`);
      expect([itself.code, itself.stderr]).toEqual([
        2,
        expect.stringContaining("--replaced names the database itself"),
      ]);
    }
    const missing = await run("after-restore", "--replaced", `sqlite:${join(place.folder, "missing.db")}`);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("--replaced says which one")]);
    const database = new DatabaseSync(inDatabase(), { readOnly: true });
    expect(database.prepare("select tokens_from from stores where id = ?").get(made.store.id)).toEqual({
      tokens_from: null,
    });
    database.close();
  });

  test("shows the new secrets also where the replaced database was read", async () => {
    await createStore(place);
    const before = join(place.folder, "before.db");
    await run("backup", before);
    const { code, stdout } = await run(
      "after-restore",
      "--replaced",
      `sqlite:${before}`,
      "--rotate-secrets",
      "--yes",
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining("carried over from the replaced database")]);
    expect(stdout.match(/^\S+ +\S+ +lkid_\S+ +lks\S+/gm), stdout).toHaveLength(2);
  });

  test("rotates no secret of a store that is being deleted, and shows those of the others", async () => {
    const doomed = await createStore(place);
    const database = new DatabaseSync(inDatabase());
    database.prepare("update stores set deleted_at = 1 where id = ?").run(doomed.store.id);
    database.close();
    const { code, stdout } = await run("after-restore", "--rotate-secrets", "--yes", "--json");
    expect(code).toBe(0);
    const { secrets } = JSON.parse(stdout);
    expect(secrets.map((secret: { store_id: string }) => secret.store_id)).not.toContain(doomed.store.id);
    expect(secrets).toHaveLength(1);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "by root leaves a database, and its lock, that the owner of the folder can open",
    async () => {
      const user = 65_534;
      const folder = join(place.folder, "of-the-service");
      mkdirSync(folder);
      chownSync(folder, user, user);
      const env = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${join(folder, "latchkey.db")}` };
      for (const _ of ["made", "replaced"]) {
        expect((await latchkey(["restore", inBackup()], env)).code).toBe(0);
        for (const name of readdirSync(folder))
          expect([name, statSync(join(folder, name)).uid]).toEqual([name, user]);
      }
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      chownSync(folder, user, user);
      expect((await latchkey(["migrate"], env)).code).toBe(0);
      expect(statSync(join(folder, "latchkey.db")).uid).toBe(user);
    },
  );

  test("creates a database where there is none", async () => {
    const elsewhere = join(place.folder, "new", "latchkey.db");
    const env = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${elsewhere}` };
    const { code, stdout } = await latchkey(["restore", inBackup(), "--json"], env);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ kept_as: null, carried_over: null, ended: expect.any(Object) }),
    ]);
    expect(existsSync(elsewhere)).toBe(true);
    expect(statSync(join(place.folder, "new")).mode & 0o777).toBe(0o700);
  });
});
