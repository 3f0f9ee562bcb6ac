import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LATCHKEY, latchkey, WATCHED } from "../../packages/server/test/support/command.ts";
import { postgresEngine } from "../../packages/server/test/support/engines.ts";
import { createStore, newPlace, type Place, type Running, serve } from "../support/running.ts";

/** The operator's commands: which database a command changes, and how a command explains why it failed. */

let place: Place;
let running: Running | undefined;

beforeEach(async () => {
  place = await newPlace();
});
afterEach(async () => {
  running?.child.kill("SIGKILL");
  await running?.exited;
  running = undefined;
  place.leave();
});

const filesOf = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]));

describe("a missing database", () => {
  test.each([
    [["store", "list"]],
    [["store", "update", "--id", "x", "--name", "y"]],
    [["store", "delete", "--id", "x", "--yes"]],
    [["key", "list", "--store", "x"]],
    [["key", "create", "--store", "x", "--name", "y"]],
    [["rotate-keys"]],
    [["backup", "copy.db"]],
    [["after-restore"]],
  ])("is not created by latchkey %s, which names the path and the remedy", async (args) => {
    const missing = join(place.folder, "mistyped", "latchkey.db");
    const env = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${missing}` };
    const { code, stdout, stderr } = await latchkey(args, env, place.folder);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`there is no database ${missing}`);
    expect(stderr).toContain("`latchkey store create`");
    expect(stderr).not.toContain("    at ");
    expect(readdirSync(place.folder)).toEqual([]);
  });

  test.skipIf(!postgresEngine.isHere)("of PostgreSQL gets no tables from a command that reads", async () => {
    const database = await postgresEngine.create();
    const env = { LATCHKEY_DATABASE_URL: database.url };
    for (const _ of ["once", "twice"]) {
      const { code, stderr } = await latchkey(["store", "list"], env);
      expect([code, stderr]).toEqual([1, expect.stringContaining("there are no tables of latchkey in")]);
    }
    await database.drop();
  });
});

test("a foreign database gets no tables, and keeps its mode and its log", async () => {
  await createStore(place);
  const path = join(place.folder, "recipes.db");
  const recipes = new DatabaseSync(path);
  recipes.exec("create table recipes (id text)");
  recipes.close();
  chmodSync(path, 0o664);
  const before = filesOf(place.folder);
  const other = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${path}` };
  for (const command of [["store", "list"], ["store", "create", "--name", "Shop"], ["migrate"], ["serve"]]) {
    const { code, stderr } = await latchkey(command, other);
    expect([command, code, stderr]).toEqual([
      command,
      1,
      expect.stringContaining("recipes.db is another program's database"),
    ]);
  }
  const named = await latchkey(["after-restore", "--replaced", `sqlite:${path}`], place.env);
  expect([named.code, named.stderr]).toEqual([1, expect.stringContaining("Nothing was changed")]);
  expect(filesOf(place.folder)).toEqual(before);
  expect(statSync(path).mode & 0o777).toBe(0o664);
});

test("a path that cannot be looked up is not called missing", async () => {
  await createStore(place);
  symlinkSync("round", join(place.folder, "round"));
  const hidden = join(place.folder, "round", "latchkey.db");
  const other = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${hidden}` };
  const typed: [string[], Record<string, string>][] = [
    [["store", "list"], other],
    [["backup", "copy.db"], other],
    [["after-restore", "--replaced", `sqlite:${hidden}`], place.env],
    [["restore", hidden], place.env],
  ];
  for (const [args, env] of typed) {
    const { code, stdout, stderr } = await latchkey(args, env, place.folder);
    expect([code, stdout], args[0]).toEqual([1, ""]);
    expect(stderr).toContain("a file or folder cannot be used: ELOOP");
    expect(stderr).not.toContain("    at ");
  }
});

test.each([
  [["store", "create", "--name", "x"], "data"],
  [["migrate"], "data"],
  [["serve"], "data"],
  [["dev"], "data"],
  [["restore", "backup.db"], "data/latchkey.db-serving/x"],
])("latchkey %j explains that it cannot write, where %s blocks the path", async (args, path) => {
  const { LATCHKEY_DATABASE_URL: _, ...env } = place.env;
  for (const file of ["backup.db", path]) {
    mkdirSync(dirname(join(place.folder, file)), { recursive: true });
    writeFileSync(join(place.folder, file), "");
  }
  const { code, stdout, stderr } = await latchkey(args, env, place.folder);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("a file or folder cannot be used: E");
  expect(stderr).not.toContain("    at ");
});

test.each(["backup", "restore"])(
  "latchkey %s is for SQLite files, and names the tools for PostgreSQL",
  async (name) => {
    const { code, stderr } = await latchkey([name, "x.db"], {
      LATCHKEY_DATABASE_URL: "postgres://127.0.0.1:1/x",
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining("this command is for SQLite files")]);
  },
);

describe("the database of a command", () => {
  test("is printed on standard error when it is not the default; standard output has the result alone", async () => {
    const url = place.env.LATCHKEY_DATABASE_URL as string;
    await createStore(place);
    const { stdout, stderr } = await latchkey(["store", "list", "--json"], place.env);
    expect(stderr).toBe(`database: ${url}\n`);
    expect(JSON.parse(stdout).stores).toHaveLength(1);
    const made = await latchkey(["store", "create", "--name", "x"], {}, place.folder);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(existsSync(join(place.folder, "data", "latchkey.db"))).toBe(true);
  });

  test("is printed without user and password", async () => {
    const url = "postgres://user:hush@127.0.0.1:1/shop?password=hush";
    const { stderr } = await latchkey(["store", "list"], { LATCHKEY_DATABASE_URL: url });
    expect(stderr).toContain("database: postgres://127.0.0.1:1/shop\n");
    expect(stderr).not.toContain("hush");
  });
});

describe("a stolen signing key", () => {
  beforeEach(() => createStore(place));

  test("is not removed by mistake: the command first lists the consequences and requires --yes", async () => {
    const refused = await latchkey(["rotate-keys", "--signing", "--now"], place.env);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("It ends 0 live customer tokens");
    expect(refused.stderr).toContain("--yes");
    const alone = await latchkey(["rotate-keys", "--now"], place.env);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("--signing --now")]);
  });

  test("is removed with --yes, and a new one is used", async () => {
    const removed = await latchkey(["rotate-keys", "--signing", "--now", "--yes"], place.env);
    expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining("in use now")]);
    expect(removed.stderr).toContain("It ends 0 live customer tokens");
  });

  test("is not replaced under another master key than the service's, because no instance could open the new key", async () => {
    const replace = ["rotate-keys", "--signing", "--now", "--yes", "--json"];
    const { signing_key } = JSON.parse((await latchkey(replace, place.env)).stdout);
    const LATCHKEY_MASTER_KEY = randomBytes(32).toString("base64url");
    const refused = await latchkey(replace, { ...place.env, LATCHKEY_MASTER_KEY });
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("sealed with a master key that is not in LATCHKEY_MASTER_KEY");
    running = await serve(place);
    const { keys } = (await (await fetch(`${place.url}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    expect(keys.map(({ kid }) => kid)).toContain(signing_key);
  });
});

describe("an impossible command is explained with the name of the option", () => {
  test("of a store's limits, of nothing to change, and of a store that is being deleted", async () => {
    const made = await createStore(place);
    const update = async (...args: string[]) =>
      (await latchkey(["store", "update", "--id", made.store.id, ...args], place.env)).stderr;
    expect(await update("--max-rate-limit", "4")).toContain("lower --rate-limit too");
    expect(await update()).toContain(
      "nothing to change: give --name, --rate-limit, --max-rate-limit, --sign-ups-per-network or",
    );
    const database = new DatabaseSync(join(place.folder, "latchkey.db"));
    database.exec("update stores set deleted_at = 1");
    database.close();
    expect(await update("--name", "x")).toContain("is being deleted");
    const key = await latchkey(["key", "create", "--store", made.store.id, "--name", "x"], place.env);
    expect([key.code, key.stderr]).toEqual([1, expect.stringContaining("is being deleted")]);
  });

  test.each([
    [["after-restore", "--replaced", "latchkey.db"], 2, "--replaced must be sqlite:<path>"],
    [["after-restore", "--replaced", ""], 2, "--replaced must be sqlite:<path>"],
    [["constructor"], 2, 'there is no command "constructor"'],
    [["store", "toString"], 2, 'store has no command "toString"'],
  ])("of latchkey %j", async (args, exitCode, words) => {
    const { code, stderr } = await latchkey(args, place.env, place.folder);
    expect([code, stderr]).toEqual([exitCode, expect.stringContaining(words)]);
    expect(stderr).not.toContain("    at ");
  });
});

test.skipIf(!postgresEngine.isHere)(
  "a PostgreSQL that cannot be used is explained, with the variable of its address",
  async () => {
    await createStore(place);
    const database = await postgresEngine.create();
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query("revoke create on schema public from public");
    await admin.query("create role stranger login");
    const other = (change: Partial<URL>) => Object.assign(new URL(database.url), change).href;
    const refused = [
      [other({ pathname: "/none_such" }), "does not exist"],
      [other({ search: "?sslmode=verify-full" }), "does not support SSL"],
      [other({ search: "?sslmode=verify-full&sslrootcert=/none.pem" }), "/none.pem"],
      [other({ search: "?host=/nowhere" }), "/nowhere"],
    ] as const;
    const notMine = [other({ username: "stranger" }), "permission denied"] as const;
    const type = async (args: string[], env: Record<string, string>, ...words: string[]) => {
      const { code, stdout, stderr } = await latchkey(args, env);
      expect([code, stdout], stderr).toEqual([1, ""]);
      for (const word of words) expect(stderr).toContain(word);
      expect(stderr).not.toContain("    at ");
    };
    for (const [LATCHKEY_DATABASE_URL, why] of [...refused, notMine])
      for (const args of [["migrate"], ["store", "create", "--name", "x"]])
        await type(args, { LATCHKEY_DATABASE_URL }, why, "LATCHKEY_DATABASE_URL");
    for (const [url, why] of refused)
      await type(["after-restore", "--replaced", url], place.env, why, "--replaced");
    await admin.query("drop role stranger");
    await admin.end();
    await database.drop();
  },
);

test.skipIf(!postgresEngine.isHere)("a PostgreSQL whose encoding lacks letters gets no tables", async () => {
  const database = await postgresEngine.create();
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const name = `latin_${randomBytes(8).toString("hex")}`;
  const made = `create database ${name} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`;
  await admin.query(made);
  const latin = { LATCHKEY_DATABASE_URL: Object.assign(new URL(database.url), { pathname: name }).href };
  for (const args of [["migrate"], ["store", "create", "--name", "Łódź"]]) {
    const { code, stderr } = await latchkey(args, latin);
    expect([code, stderr]).toEqual([1, expect.stringContaining("is encoded in LATIN1")]);
    expect(stderr).not.toContain("    at ");
  }
  await admin.query(`drop database ${name}`);
  await admin.end();
  await database.drop();
});

test("a PostgreSQL that requires a missing password is explained at once, before the server closes the connection", async () => {
  const says = (kind: number, text: string) =>
    Buffer.concat([Buffer.from([82, 0, 0, 0, 8 + text.length, 0, 0, 0, kind]), Buffer.from(text)]);
  const asking = createServer((socket) => {
    // The names of its mechanisms, and its half of the first exchange; after these the server waits for a minute.
    const answers = [says(10, "SCRAM-SHA-256\0\0"), says(11, "r=nonce,s=c2FsdA==,i=4096")];
    socket.on("error", () => undefined);
    socket.on("data", () => socket.write(answers.shift() ?? ""));
  });
  await new Promise<void>((resolve) => asking.listen(0, "127.0.0.1", resolve));
  const { port } = asking.address() as AddressInfo;
  const env = { LATCHKEY_DATABASE_URL: `postgres://latchkey@127.0.0.1:${port}/latchkey` };
  const { code, stderr } = await latchkey(["store", "list"], env);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("asks for a password, and the address has none"),
  ]);
  expect(stderr).toContain("LATCHKEY_DATABASE_URL");
  expect(stderr).not.toContain("    at ");
  await new Promise((resolve) => asking.close(resolve));
});

test("the deletion of a store reports its progress on standard error, and its result on standard output", async () => {
  const made = await createStore(place);
  const args = ["store", "delete", "--id", made.store.id, "--yes", "--json"];
  const { code, stdout, stderr } = await latchkey(args, place.env);
  expect([code, JSON.parse(stdout)]).toEqual([0, { deleted: made.store.id, rows: 1 }]);
  expect(stderr).toContain(`deleting ${made.store.id}: 1 of 1 rows`);
  const again = await latchkey(args, place.env);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("there is no store")]);
});

test("the deletion of a store ends with exit code 0 also when its output is not read", async () => {
  const made = await createStore(place);
  const child = spawn(process.execPath, [LATCHKEY, "store", "delete", "--id", made.store.id, "--yes"], {
    env: { PATH: process.env.PATH, ...WATCHED, ...place.env },
  });
  child.stderr.destroy();
  child.stdout.resume();
  expect(await once(child, "close")).toEqual([0, null]);
});
