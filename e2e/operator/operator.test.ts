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
import { createStorefront } from "@latchkey/sdk";
import { beginMemberSignOn, completeMemberSignOn, createAdmin } from "@latchkey/sdk/admin";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LATCHKEY, latchkey, WATCHED } from "../../packages/server/test/support/command.ts";
import { postgresEngine } from "../../packages/server/test/support/engines.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { newCookieJar } from "../support/honest-idp.ts";
import { createStore, newPlace, type Place, type Running, serve } from "../support/running.ts";

/** What an operator types, and what it must not do by the way. */

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

describe("a database that is not there", () => {
  test.each([
    [["store", "list"]],
    [["store", "update", "--id", "x", "--name", "y"]],
    [["store", "delete", "--id", "x", "--yes"]],
    [["key", "list", "--store", "x"]],
    [["key", "create", "--store", "x", "--name", "y"]],
    [["rotate-keys"]],
    [["backup", "copy.db"]],
    [["after-restore"]],
  ])("is not made by latchkey %s: the path is named, and what to do", async (args) => {
    const missing = join(place.folder, "mistyped", "latchkey.db");
    const env = { ...place.env, LATCHKEY_DATABASE_URL: `sqlite:${missing}` };
    const { code, stdout, stderr } = await latchkey(args, env, place.folder);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`there is no database ${missing}`);
    expect(stderr).toContain("`latchkey store create`");
    expect(stderr).not.toContain("    at ");
    expect(readdirSync(place.folder)).toEqual([]);
  });

  test.skipIf(!postgresEngine.isHere)("of PostgreSQL gets no tables by being looked at", async () => {
    const database = await postgresEngine.create();
    const env = { LATCHKEY_DATABASE_URL: database.url };
    for (const _ of ["once", "twice"]) {
      const { code, stderr } = await latchkey(["store", "list"], env);
      expect([code, stderr]).toEqual([1, expect.stringContaining("there are no tables of latchkey in")]);
    }
    await database.drop();
  });
});

test("what is led to somebody else's database makes no tables there, and changes neither its mode nor its log", async () => {
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
      expect.stringContaining("recipes.db is somebody else's database"),
    ]);
  }
  const named = await latchkey(["after-restore", "--replaced", `sqlite:${path}`], place.env);
  expect([named.code, named.stderr]).toEqual([1, expect.stringContaining("Nothing was changed")]);
  expect(filesOf(place.folder)).toEqual(before);
  expect(statSync(path).mode & 0o777).toBe(0o664);
});

test("what a command is not let look for is not called missing", async () => {
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
])("latchkey %j says in words that it cannot write, where %s is in its way", async (args, path) => {
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
  "latchkey %s is for SQLite files, and says what is for PostgreSQL",
  async (name) => {
    const { code, stderr } = await latchkey([name, "x.db"], {
      LATCHKEY_DATABASE_URL: "postgres://127.0.0.1:1/x",
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining("this command is for SQLite files")]);
  },
);

describe("which database a command works on", () => {
  test("is said on standard error when it is not the default, and standard output stays for the answer", async () => {
    const url = place.env.LATCHKEY_DATABASE_URL as string;
    await createStore(place);
    const { stdout, stderr } = await latchkey(["store", "list", "--json"], place.env);
    expect(stderr).toBe(`database: ${url}\n`);
    expect(JSON.parse(stdout).stores).toHaveLength(1);
    const made = await latchkey(["store", "create", "--name", "x"], {}, place.folder);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(existsSync(join(place.folder, "data", "latchkey.db"))).toBe(true);
  });

  test("is said without user and password", async () => {
    const url = "postgres://user:hush@127.0.0.1:1/shop?password=hush";
    const { stderr } = await latchkey(["store", "list"], { LATCHKEY_DATABASE_URL: url });
    expect(stderr).toContain("database: postgres://127.0.0.1:1/shop\n");
    expect(stderr).not.toContain("hush");
  });
});

test("a second start beside a running `latchkey dev` changes nothing of what is kept", async () => {
  const { LATCHKEY_MASTER_KEY: _, ...env } = place.env;
  running = await serve({ ...place, env }, ["dev"]);
  await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
  const before = filesOf(place.folder);
  const { PORT: __, ...anyPort } = env;
  const { code, stderr } = await latchkey(["dev"], anyPort, place.folder);
  expect([code, stderr]).toEqual([1, expect.stringContaining("another latchkey already serves")]);
  const after = filesOf(place.folder);
  expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
  for (const file of ["first-store.json", "master.key", "ports.json"]) {
    expect(before[file], file).toBeTruthy();
    expect(after[file], file).toBe(before[file]);
  }
});

test.skipIf(!postgresEngine.isHere)(
  "a second start beside a running `latchkey dev` on PostgreSQL is refused too, and changes nothing of what is kept",
  async () => {
    const database = await postgresEngine.create();
    const { LATCHKEY_MASTER_KEY: _, ...others } = place.env;
    const env: Record<string, string> = { ...others, LATCHKEY_DATABASE_URL: database.url };
    running = await serve({ ...place, env }, ["dev"]);
    await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
    expect(running.logLines().find((line) => line.includes("Ctrl-C"))).toMatch(/Data is kept\.$/);
    const data = join(place.folder, "data");
    const before = filesOf(data);
    expect(Object.keys(before).filter((name) => name.endsWith("ports.json"))).toHaveLength(1);
    const { PORT: __, ...anyPort } = env;
    const { code, stderr } = await latchkey(["dev"], anyPort, place.folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("another latchkey already serves")]);
    expect(filesOf(data)).toEqual(before);
    running.child.kill("SIGINT");
    await running.exited;
    await database.drop();
  },
);

test("`latchkey dev` on another database of the folder, and --reset of that, leave alone what is kept of the default", async () => {
  const { LATCHKEY_MASTER_KEY: _, ...env } = place.env;
  const files = ["first-store.json", "master.key", "ports.json"];
  for (const file of files) writeFileSync(join(place.folder, file), "{}");
  const other = { ...env, LATCHKEY_DATABASE_URL: `sqlite:${join(place.folder, "other.db")}` };
  running = await serve({ ...place, env: other }, ["dev", "--reset"]);
  await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
  const kept = filesOf(place.folder);
  for (const file of files) {
    expect(kept[file], file).toBe("{}");
    expect(kept[`other.db.${file}`], file).toBeTruthy();
    expect(statSync(join(place.folder, `other.db.${file}`)).mode & 0o777, file).toBe(0o600);
  }
});

test.each([
  ["ports.json", "", "Delete it, and free ports are chosen"],
  ["ports.json", '{"service":"4000","idp":4001,"shop":4002}', "Delete it, and free ports are chosen"],
  ["first-store.json", '{"storeId":', "Delete it, and another practice store is made"],
  ["first-store.json", "{}", "Delete it, and another practice store is made"],
  ["master.key", "", "Put it back from a copy"],
  ["master.key", "half-a-key", "Put it back from a copy"],
])(
  "`latchkey dev` says that %s is damaged where it is %j, and what to do, and leaves it as it is",
  async (name, text, words) => {
    const { LATCHKEY_MASTER_KEY: _, ...env } = place.env;
    const file = join(place.folder, name);
    writeFileSync(file, text);
    const { code, stdout, stderr } = await latchkey(["dev"], env, place.folder);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`${file} is damaged`);
    expect(stderr).toContain(words);
    expect(stderr).toContain("`latchkey dev --reset` begins anew");
    expect(stderr).not.toContain("    at ");
    expect(readFileSync(file, "utf8")).toBe(text);
  },
);

test.each(["ports.json", "master.key"])(
  "`latchkey dev` does not advise --reset where %s of a PostgreSQL is damaged",
  async (name) => {
    mkdirSync(join(place.folder, "data"));
    writeFileSync(join(place.folder, "data", `postgres-x.${name}`), "");
    const env = { LATCHKEY_DATABASE_URL: "postgres://127.0.0.1:1/x" };
    const { code, stderr } = await latchkey(["dev"], env, place.folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`postgres-x.${name} is damaged`)]);
    expect(stderr).toContain("a database of another name begins anew");
    expect(stderr).not.toContain("--reset");
  },
);

test("`latchkey dev` on other ports than the last time knows everybody who has signed in, at the shop and at the console", async () => {
  const starts = async (port: string) => {
    const url = `http://localhost:${port}`;
    running = await serve({ ...place, url, env: { ...place.env, PORT: port } }, ["dev"]);
    await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    const [, storeId = "", realmId = ""] = /\?store=([\w-]+)&realm=([\w-]+)/.exec(banner) ?? [];
    const [, shop = ""] = /shop +(http\S+)/.exec(banner) ?? [];
    const [, clientId = ""] = /client id +(lkid_\w+)/.exec(banner) ?? [];
    const kept = new Map<string, string>();
    const storage = {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
      removeItem: (name: string) => void kept.delete(name),
    };
    const storefront = createStorefront({ baseUrl: url, clientId, storage });
    const [provider] = await storefront.listProviders();
    const leaving = await storefront.beginSignOn(provider, { redirectUri: `${shop}/signed-in` });
    const { customerId } = await storefront.completeSignOn(await walkAs("ada", leaving.url, shop));
    const console = { storeId, realmId, redirectUri: `${url}/console/signed-in` };
    const member = await beginMemberSignOn({ baseUrl: url, storage }, console);
    const returned = await walkAs("mona", member.url, console.redirectUri);
    const { accessToken } = await completeMemberSignOn({ baseUrl: url, storage }, returned);
    const { data: me } = await createAdmin({ baseUrl: url, accessToken: () => accessToken }).me();
    running.child.kill("SIGINT");
    await running.exited;
    return { customerId, memberId: me.id };
  };
  const before = await starts(String(await freePort()));
  const { idp } = JSON.parse(readFileSync(join(place.folder, "ports.json"), "utf8"));
  const squatter = createServer().listen(idp, "127.0.0.1");
  await once(squatter, "listening");
  expect(await starts(String(await freePort()))).toEqual(before);
  squatter.close();
});

test("`latchkey dev` chooses another port for the provider, and for the shop, where PORT or LATCHKEY_OPERATIONS_PORT is the one of the last time", async () => {
  const operationsPort = await freePort();
  const kept = { service: await freePort(), idp: Number(place.env.PORT), shop: operationsPort };
  writeFileSync(join(place.folder, "ports.json"), JSON.stringify(kept));
  const env = { ...place.env, LATCHKEY_OPERATIONS_PORT: String(operationsPort) };
  const operationsUrl = `http://localhost:${operationsPort}`;
  running = await serve({ ...place, env }, ["dev"], "pipe", { operationsUrl });
  await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
  const { service, idp, shop } = JSON.parse(readFileSync(join(place.folder, "ports.json"), "utf8"));
  expect(new Set([service, operationsPort, idp, shop]).size).toBe(4);
});

const MOST_STEPS = 20;

/** Goes where it is sent, presses a name on the provider's page, and ends where the address begins so. */
async function walkAs(person: string, from: string, end: string): Promise<string> {
  const jar = newCookieJar();
  const ask = async (url: string, init: RequestInit = {}) => {
    const answer = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: { ...jar.headersFor(url), ...init.headers },
    });
    jar.keep(url, answer);
    return answer;
  };
  let at = from;
  for (let steps = 0; !at.startsWith(end); steps++) {
    if (steps === MOST_STEPS) throw new Error(`${at} is still not ${end}`);
    const shown = await ask(at);
    const headers = { origin: new URL(at).origin, "sec-fetch-site": "same-origin" };
    const answer =
      shown.status === 200
        ? await ask(at, { method: "POST", headers, body: new URLSearchParams({ person }) })
        : shown;
    const next = answer.headers.get("location");
    if (next === null) throw new Error(`${at} answers ${answer.status}`);
    at = new URL(next, at).href;
  }
  return at;
}

test("`latchkey dev` knows its practice provider and its webhook again after somebody has renamed them, and makes no second ones", async () => {
  const start = async () => {
    running = await serve(place, ["dev"]);
    await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
    const kept = JSON.parse(readFileSync(join(place.folder, "first-store.json"), "utf8"));
    const admin = createAdmin({ baseUrl: place.url, ...kept });
    return [admin.profiles((await admin.settings.get()).data.realm_id), admin.integrations] as const;
  };
  for (const of of await start()) {
    const [made] = (await of.list()).data;
    await of.update(made?.id ?? "", { name: "Our own" });
  }
  running?.child.kill("SIGINT");
  await running?.exited;
  for (const of of await start())
    expect((await of.list()).data.map(({ name }: { name: string }) => name)).toEqual(["Our own"]);
});

test("`latchkey dev` leads from its pages to the shop where it is now, also where it has been before, and to the address that somebody has chosen", async () => {
  const [one, other] = [await freePort(), await freePort()];
  const [service, idp] = [await freePort(), await freePort()];
  const start = async (shop: number, chosen?: string) => {
    writeFileSync(join(place.folder, "ports.json"), JSON.stringify({ service, idp, shop }));
    running = await serve(place, ["dev"]);
    await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
    const kept = JSON.parse(readFileSync(join(place.folder, "first-store.json"), "utf8"));
    const admin = createAdmin({ baseUrl: place.url, ...kept });
    const { realm_id } = (await admin.settings.get()).data;
    const { home_url } = (await admin.realms.get(realm_id)).data;
    if (chosen) await admin.realms.update(realm_id, { home_url: chosen });
    running?.child.kill("SIGINT");
    await running?.exited;
    return home_url;
  };
  expect(await start(one)).toBe(`http://localhost:${one}/`);
  expect(await start(other)).toBe(`http://localhost:${other}/`);
  const chosen = "https://shop.example/";
  expect(await start(one, chosen)).toBe(`http://localhost:${one}/`);
  expect(await start(other)).toBe(chosen);
});

test("`latchkey dev` ends, in words, when its shop cannot be set up because LATCHKEY_PUBLIC_URL leads elsewhere", async () => {
  const elsewhere = `http://localhost:${await freePort()}`;
  const env = { ...place.env, LATCHKEY_PUBLIC_URL: elsewhere };
  const { code, stderr } = await latchkey(["dev"], env, place.folder);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`at ${elsewhere} (LATCHKEY_PUBLIC_URL)`)]);
  expect(stderr).not.toContain("    at ");
});

test("`latchkey dev` ends when what it keeps beside its database cannot be written, and leaves no service behind", async () => {
  mkdirSync(join(place.folder, "ports.json.part"));
  const { code, stderr } = await latchkey(["dev"], place.env, place.folder);
  expect([code, stderr]).toEqual([1, expect.stringContaining("ports.json.part")]);
});

test("`latchkey dev --reset` does not reset a PostgreSQL, says so and changes nothing", async () => {
  const env = { LATCHKEY_DATABASE_URL: "postgres://127.0.0.1:1/x" };
  const { code, stderr } = await latchkey(["dev", "--reset"], env, place.folder);
  expect([code, stderr]).toEqual([1, expect.stringContaining("does not reset a PostgreSQL")]);
  expect(readdirSync(place.folder)).toEqual([]);
});

describe("a signing key that is in other hands", () => {
  beforeEach(() => createStore(place));

  test("is not removed by mistake: what that ends is said first, and --yes is asked for", async () => {
    const refused = await latchkey(["rotate-keys", "--signing", "--now"], place.env);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("It ends 0 live customer tokens");
    expect(refused.stderr).toContain("--yes");
    const alone = await latchkey(["rotate-keys", "--now"], place.env);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("--signing --now")]);
  });

  test("is removed with --yes, and a new one is in use", async () => {
    const removed = await latchkey(["rotate-keys", "--signing", "--now", "--yes"], place.env);
    expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining("in use now")]);
    expect(removed.stderr).toContain("It ends 0 live customer tokens");
  });

  test("is not replaced by one that no instance could open: another master key than the service's is refused", async () => {
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

describe("what cannot be done is said in words that name the option", () => {
  test("of a store's limits, of nothing to change, and of a store that is being deleted", async () => {
    const made = await createStore(place);
    const update = async (...args: string[]) =>
      (await latchkey(["store", "update", "--id", made.store.id, ...args], place.env)).stderr;
    expect(await update("--max-rate-limit", "4")).toContain("lower --rate-limit too");
    expect(await update()).toContain(
      "nothing to change: say --name, --rate-limit, --max-rate-limit, --sign-ups-per-network or",
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
    [["store", "toString"], 2, 'store cannot "toString"'],
  ])("of latchkey %j", async (args, exitCode, words) => {
    const { code, stderr } = await latchkey(args, place.env, place.folder);
    expect([code, stderr]).toEqual([exitCode, expect.stringContaining(words)]);
    expect(stderr).not.toContain("    at ");
  });
});

test.skipIf(!postgresEngine.isHere)(
  "what keeps a command from a PostgreSQL is said in words, with where its address stands",
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

test.skipIf(!postgresEngine.isHere)(
  "no tables are made in a PostgreSQL whose encoding lacks letters",
  async () => {
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
  },
);

test("a PostgreSQL that asks for a password which the address does not have is said in words, too, and nobody waits until it hangs up", async () => {
  const says = (kind: number, text: string) =>
    Buffer.concat([Buffer.from([82, 0, 0, 0, 8 + text.length, 0, 0, 0, kind]), Buffer.from(text)]);
  const asking = createServer((socket) => {
    // The names of its mechanisms, and its half of the first exchange; then it would wait for a minute.
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

test("deleting a store says how far it is on standard error, and its result on standard output", async () => {
  const made = await createStore(place);
  const args = ["store", "delete", "--id", made.store.id, "--yes", "--json"];
  const { code, stdout, stderr } = await latchkey(args, place.env);
  expect([code, JSON.parse(stdout)]).toEqual([0, { deleted: made.store.id, rows: 1 }]);
  expect(stderr).toContain(`deleting ${made.store.id}: 1 of 1 rows`);
  const again = await latchkey(args, place.env);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("there is no store")]);
});

test("a store is deleted, with exit code 0, also when nobody reads how far it is", async () => {
  const made = await createStore(place);
  const child = spawn(process.execPath, [LATCHKEY, "store", "delete", "--id", made.store.id, "--yes"], {
    env: { PATH: process.env.PATH, ...WATCHED, ...place.env },
  });
  child.stderr.destroy();
  child.stdout.resume();
  expect(await once(child, "close")).toEqual([0, null]);
});
