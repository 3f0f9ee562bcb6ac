import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LATCHKEY, latchkey, WATCHED } from "../../packages/server/test/support/command.ts";
import { postgresEngine } from "../../packages/server/test/support/engines.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "../support/running.ts";

/** The command line shows the resources of the API, and does not load a whole list. */

const OPENED_BY_NO_FETCH = [6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080];

let place: Place;
let running: Running;
let store: string;
let token: string;

beforeAll(async () => {
  place = await newPlace();
  running = await serve(place, ["dev"]);
  await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
  const banner = running.logLines().join("\n");
  const shown = (name: string) => banner.match(new RegExp(`${name}\\s+(\\S+)`))?.[1] ?? "";
  store = shown("store");
  const application_key = { id: "", client_id: shown("client id"), client_secret: shown("client secret") };
  token = await getToken(place.url, { store: { id: store }, application_key });
});
afterAll(async () => {
  running.child.kill("SIGINT");
  await running.exited;
  place.leave();
});

const type = (...args: string[]) => latchkey(args, { ...place.env, LATCHKEY_PUBLIC_URL: place.url });
async function read(...args: string[]) {
  const { code, stdout, stderr } = await type(...args, "--json");
  expect([code, stderr]).toEqual([0, expect.stringContaining("database: ")]);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  return JSON.parse(stdout);
}
async function ask(path: string) {
  const answer = await fetch(`${place.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { data: never; links: never };
}

describe("--json gives the resources of the API", () => {
  test("of stores and keys", async () => {
    const { data } = await ask("/v2/store");
    expect(await read("store", "show", store)).toEqual({ store: data });
    expect(await read("store", "list")).toEqual({ stores: [data], next: null });
    const made = (await read("key", "create", "--store", store, "--name", "Till")).application_key;
    const { client_secret, ...key } = made;
    expect(client_secret).toMatch(/^lksk_/);
    expect(key).toEqual((await ask(`/v2/application-keys/${made.id}`)).data);
    expect(await read("key", "show", made.id)).toEqual({ application_key: key });
    const { application_key: changed } = await read(
      ...["key", "update", "--store", store, "--id", made.id, "--reserve", "7"],
    );
    expect(changed).toMatchObject({ name: "Till", reserved_rate_limit: 7 });
    const { application_key: renamed } = await read(
      ...["key", "update", "--store", store, "--id", made.id, "--name", "Counter"],
    );
    expect(renamed).toMatchObject({ name: "Counter", reserved_rate_limit: 7 });
    expect((await read("key", "list", "--store", store)).application_keys).toContainEqual(renamed);
  });

  test("realm allow adds a redirect URI once, and keeps the others", async () => {
    const { authentication_realms } = await read("realm", "list");
    const { id, redirect_uris: before } = authentication_realms[0];
    const uri = "http://localhost:3000/signed-in";
    for (let time = 0; time < 2; time++) {
      const { authentication_realm } = await read("realm", "allow", uri);
      expect(authentication_realm).toEqual((await ask(`/v2/authentication-realms/${id}`)).data);
      expect(authentication_realm.redirect_uris).toEqual([...before, uri]);
    }
    const refused = await type("realm", "allow", "http://shop.example/signed-in");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("it must begin with https://");
  });

  test("of realms and profiles, except health, which only a running service knows", async () => {
    const { authentication_realms, next } = await read("realm", "list");
    expect(next).toBeNull();
    const realm = authentication_realms[0].id;
    expect(await read("realm", "show", realm)).toEqual({
      authentication_realm: (await ask(`/v2/authentication-realms/${realm}`)).data,
    });
    const { oidc_profiles: profiles } = await read("profile", "list");
    expect(profiles.length).toBeGreaterThan(0);
    const path = `/v2/authentication-realms/${realm}/oidc-profiles/${profiles[0].id}`;
    const { data, links } = (await ask(path)) as unknown as {
      data: { meta: { health?: object } };
      links: object;
    };
    const { health, ...meta } = data.meta;
    expect(health).toBeTruthy();
    expect(await read("profile", "show", profiles[0].id)).toEqual({
      oidc_profile: { ...data, meta, links },
    });
    expect((await read("profile", "list", "--realm", realm)).oidc_profiles).toEqual(profiles);
    const shown = await type("profile", "show", profiles[0].id);
    expect(shown.stdout).toContain(`/profiles/${profiles[0].id}/callback`);
    expect(shown.stdout).not.toContain("secret-");
  });

  test("of sign-ons, found by a reference in any spelling", async () => {
    const { oidc_profiles: profiles } = await read("profile", "list");
    const address = `${profiles[0].links["authorization-endpoint"]}&client_id=customers&redirect_uri=https://evil.example/`;
    const page = await (await fetch(address)).text();
    const reference = page.match(/[0-9A-Z]{4}-[0-9A-Z]{4}/)?.[0] as string;
    const typed = reference.toLowerCase().replace("-", " ").replaceAll("1", "l").replaceAll("0", "o");
    await until(async () => (await type("sign-on", "show", typed)).code === 0);
    const { sign_on } = await read("sign-on", "show", typed);
    expect(sign_on).toEqual((await ask(`/v2/sign-ons/${sign_on.id}`)).data);
    expect((await read("sign-on", "show", sign_on.id)).sign_on).toEqual(sign_on);
    const listed = await read("sign-on", "list", "--outcome", "failed", "--since", "2020-01-01");
    expect(listed.sign_ons).toContainEqual(sign_on);
    for (const since of ["2026-02-30", "2026-02-30T09:00:00Z", "2026-13-01", "yesterday"]) {
      const mistyped = await type("sign-on", "list", "--since", since);
      expect([mistyped.code, mistyped.stderr]).toEqual([2, expect.stringContaining("--since must be")]);
    }
    const words = await type("sign-on", "show", reference);
    expect(words.stdout).toContain(sign_on.remedy);
    const none = await type("sign-on", "list", "--reason", "nothing.such");
    expect([none.code, none.stdout, none.stderr]).toEqual([
      0,
      "",
      expect.stringContaining("leave out an option"),
    ]);
    const unknown = await type("sign-on", "show", "ZZZZ-ZZZZ");
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("ZZZZ-ZZZZ")]);
  });

  test("of migrations and of the service's health", async () => {
    expect(await read("migrate")).toEqual({ applied: [] });
    const ready = await latchkey(["health", "--json"], place.env);
    expect([ready.code, JSON.parse(ready.stdout).status]).toEqual([0, "ready"]);
    expect((await latchkey(["health", "--live"], place.env)).stdout).toBe("live\n");
    const away = await latchkey(["health"], { PORT: "1" });
    expect([away.code, away.stdout, away.stderr]).toEqual([
      1,
      "",
      expect.stringContaining("nothing answers at"),
    ]);
  });
});

test("member add prints the address at which members sign in", async () => {
  const args = ["--store", store, "--email", "nina@shop.example", "--role", "viewer"];
  const { code, stdout } = await type("member", "add", ...args);
  expect([code, stdout.trimEnd().split("\n").at(-1)?.trim()]).toEqual([
    0,
    `${place.url}/console/sign-in?store=${store}`,
  ]);
});

describe.each([
  ["SQLite", true],
  ["PostgreSQL", postgresEngine.isHere],
])("a list on %s", (engine, isHere) => {
  test.skipIf(!isHere)("comes page by page, with each entry once", async () => {
    const database = engine === "PostgreSQL" ? await postgresEngine.create() : undefined;
    const own = await newPlace(database?.url);
    const stores: string[] = [];
    for (let at = 0; at < 3; at++) stores.push((await createStore(own)).store.id);
    const walk = async (...args: string[]) => {
      const found: string[] = [];
      let next: string | null = null;
      do {
        const after: string[] = next === null ? [] : ["--after", next];
        const { code, stdout } = await latchkey([...args, "--limit", "2", "--json", ...after], own.env);
        expect(code).toBe(0);
        const { next: cursor, ...rows } = JSON.parse(stdout);
        found.push(...(Object.values(rows)[0] as { id: string }[]).map(({ id }) => id));
        next = cursor;
      } while (next !== null && found.length < 10);
      return found;
    };
    expect(await walk("store", "list")).toEqual(stores.toSorted());
    const first = stores[0] as string;
    for (const name of ["a", "b"])
      await latchkey(["key", "create", "--store", first, "--name", name], own.env);
    expect(new Set(await walk("key", "list", "--store", first)).size).toBe(3);
    const shown = await latchkey(["store", "list", "--limit", "1"], own.env);
    expect(shown.stderr).toContain(`there are more: add --after ${stores.toSorted()[0]}`);
    const last = stores.toSorted().at(-1) as string;
    const none = await latchkey(["store", "list", "--after", last], own.env);
    expect([none.code, none.stdout, none.stderr]).toEqual([
      0,
      "",
      expect.stringMatching(/^there are no more$/m),
    ]);
    for (const list of [
      ["key", "list", "--store", first],
      ["store", "list"],
    ]) {
      const unfit = await latchkey([...list, "--after", "nonsense"], own.env);
      expect([unfit.code, unfit.stderr]).toEqual([2, expect.stringContaining("--after is not")]);
    }
    const several = await latchkey(["key", "list"], own.env);
    expect([several.code, several.stderr]).toEqual([2, expect.stringContaining("there are several")]);
    own.leave();
    await database?.drop();
  });
});

test("prove-limits works on every port, also on a port that browsers and fetch block", async () => {
  const own = await newPlace();
  const { store } = await createStore(own);
  const service = createHttpServer((_, response) => response.writeHead(401).end());
  for (const port of OPENED_BY_NO_FETCH)
    if (!service.listening)
      await once(service.listen(port, "127.0.0.1"), "listening").catch(() => service.close());
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const { code, stderr } = await latchkey(["prove-limits", "--store", store.id, "--url", url], own.env);
  expect([code, stderr]).toEqual([1, expect.stringContaining("it runs on another database")]);
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  own.leave();
});

test("dev warns of a port that browsers block", async () => {
  const own = await newPlace();
  const url = `http://localhost:${OPENED_BY_NO_FETCH[0]}`;
  const { code, stderr } = await latchkey(["dev"], { ...own.env, LATCHKEY_PUBLIC_URL: url });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`no browser opens a page at ${url}`)]);
  own.leave();
});

test("health explains an answer that broke off", async () => {
  const broken = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"));
  });
  await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
  const { code, stdout, stderr } = await latchkey(["health", "--url", url], {});
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(`nothing answers at ${url}`)]);
  expect(stderr).not.toContain("    at ");
  await new Promise((resolve) => broken.close(resolve));
});

describe("health", () => {
  /** The message about a service with this answer. */
  const healthOf = (status: number, body: object | string, ...more: string[]) =>
    healthOn([0], status, body, ...more);

  /** On the first of these ports that is free. */
  async function healthOn(ports: number[], status: number, body: object | string, ...more: string[]) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const head = `HTTP/1.1 ${status} Said\r\nConnection: close\r\nContent-Length: ${text.length}\r\n\r\n`;
    const service = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(head + text));
    });
    for (const port of ports)
      if (!service.listening)
        await once(service.listen(port, "127.0.0.1"), "listening").catch(() => service.close());
    const { port } = service.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const { code, stdout, stderr } = await latchkey(["health", "--url", url, ...more], {});
    await new Promise((resolve) => service.close(resolve));
    return [code, stdout, stderr.replace(`latchkey: ${url}`, "").trimEnd()];
  }
  const identity_providers = { down: 0, degraded: 0 };

  test("shows what is degraded and which providers are down, with exit code 0", async () => {
    const degraded = ["counters: Valkey does not answer", "1 of 2 workers do not answer"];
    expect(await healthOf(200, { status: "ready", identity_providers, degraded })).toEqual([
      0,
      "ready\ndoes not hold in full: counters: Valkey does not answer\ndoes not hold in full: 1 of 2 workers do not answer\n",
      "",
    ]);
    const some = { status: "ready", identity_providers: { down: 1, degraded: 2 } };
    expect(await healthOf(200, some)).toEqual([
      0,
      "ready\nidentity providers: 1 down, 2 have just failed\n",
      "",
    ]);
    expect(await healthOf(200, some, "--json")).toEqual([0, `${JSON.stringify(some)}\n`, ""]);
  });

  test("explains why an instance is not ready", async () => {
    const errors = [{ code: "not_ready", meta: { reasons: ["the database does not answer", "and more"] } }];
    const words = "/health/ready answers 503: the database does not answer; and more";
    expect(await healthOf(503, { errors })).toEqual([1, "", words]);
    expect(await healthOf(503, { errors }, "--json")).toEqual([1, `${JSON.stringify({ errors })}\n`, words]);
    const found = { errors: [{ code: "not_found", detail: "Not here." }] };
    expect(await healthOf(404, found)).toEqual([1, "", "/health/ready answers 404: Not here."]);
    expect(await healthOf(502, "Bad gateway")).toEqual([1, "", '/health/ready answers 502: "Bad gateway"']);
  });

  test("works on every port, also on a port that browsers and fetch block", async () => {
    const ready = { status: "ready", identity_providers };
    expect(await healthOn(OPENED_BY_NO_FETCH, 200, ready)).toEqual([0, "ready\n", ""]);
  });

  test("does not accept the answer of another program, even a 200", async () => {
    for (const body of ["<h1>It works!</h1>", "null", { status: "ok" }])
      for (const more of [[], ["--live"]])
        expect(await healthOf(200, body, ...more)).toEqual([
          1,
          "",
          expect.stringContaining("another program's"),
        ]);
  });
});

test
  .skipIf(!existsSync("/dev/full"))
  .each([
    [["store", "create", "--name", "x", "--json"]],
    [["--help"]],
    [["store", "--help"]],
    [["serve", "--help"]],
    [["--version"]],
  ])(
  "an answer that finds no room is a fault with exit code 1: a secret that is shown once may be in it (%j)",
  async (args) => {
    const own = await newPlace();
    const full = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [LATCHKEY, ...args], {
      env: { PATH: process.env.PATH, ...WATCHED, ...own.env },
      stdio: ["ignore", full, "pipe"],
    });
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    expect(await once(child, "close")).toEqual([1, null]);
    expect(stderr).toContain("the answer cannot be written to standard output: ENOSPC");
    expect(stderr).not.toContain("    at ");
    closeSync(full);
    own.leave();
  },
);

describe("an empty store", () => {
  test("lists explain the next step, on standard error", async () => {
    const own = await newPlace();
    await latchkey(["migrate"], own.env);
    const none = await latchkey(["store", "list"], own.env);
    expect([none.code, none.stdout]).toEqual([0, ""]);
    expect(none.stderr).toContain("`latchkey store create --name <name>` makes one");
    expect((await latchkey(["store", "list", "--json"], own.env)).stdout).toBe('{"stores":[],"next":null}\n');
    const keys = await latchkey(["key", "list"], own.env);
    expect([keys.code, keys.stderr]).toEqual([1, expect.stringContaining("there are no stores yet")]);
    await createStore(own);
    const profiles = await latchkey(["profile", "list"], own.env);
    expect([profiles.code, profiles.stderr]).toEqual([0, expect.stringContaining("oidc-profiles adds one")]);
    own.leave();
  });
});

describe("a command that deletes", () => {
  test("names what it deletes and in which database, and changes nothing without --yes", async () => {
    const own = await newPlace();
    const made = await createStore(own);
    const key = ["key", "delete", "--store", made.store.id, "--id", made.application_key.id];
    const refused = await latchkey(key, own.env);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toMatch(/^database: .+\nThis deletes the key/);
    expect(refused.stderr).toContain("add --yes");
    const store = ["store", "delete", "--id", made.store.id];
    const kept = await latchkey(store, own.env);
    expect([kept.code, kept.stderr]).toEqual([1, expect.stringContaining('This deletes the store "Shop"')]);
    const secrets = await latchkey(["after-restore", "--rotate-secrets"], own.env);
    expect([secrets.code, secrets.stderr]).toEqual([
      1,
      expect.stringMatching(/^database: .+\nThis gives every application key of every store a new secret/),
    ]);
    const reset = await latchkey(["dev", "--reset"], own.env);
    expect([reset.code, reset.stderr]).toEqual([1, expect.stringContaining("has not made")]);
    expect(await latchkey([...key, "--yes", "--json"], own.env)).toMatchObject({
      code: 0,
      stdout: `{"deleted":"${made.application_key.id}"}\n`,
    });
    expect((await latchkey([...store, "--yes"], own.env)).code).toBe(0);
    own.leave();
  });
});

describe("a typing mistake", () => {
  test.each([
    [["stroe", "list"], 2, 'there is no command "stroe"; did you mean store?'],
    [["store", "lst"], 2, 'store has no command "lst"; did you mean list?'],
    [["store", "list", "--limt", "3"], 2, "did you mean --limit?"],
    [["store", "create", "--name", "x", "--rate-limit", "many"], 2, 'not "many"'],
    [["sign-on", "list", "--outcome", "faild"], 2, "did you mean failed?"],
    [["sign-on", "list", "--since", "yesterday"], 2, 'not "yesterday"'],
    [["store", "list", "--limit", "-5"], 2, '--limit must be a whole number from 1 to 1000, not "-5"'],
    [
      ["health", "--url", "localhost:4000"],
      2,
      '--url must be an address such as http://localhost:4000, not "loc',
    ],
    [["prove-limits", "--store", "x", "--url", "keys"], 2, "--url must be an address"],
    [["doctor", "idp.example/tenant"], 2, "did you mean https://idp.example/tenant?"],
    [["doctor", "ftp://idp.example"], 2, 'must begin with https://, not be "ftp://idp.example"'],
    [["sign-on", "show", "7K2P"], 2, '"7K2P" is no reference'],
  ])("%j gets the meant command as a hint", async (args, code, words) => {
    const answer = await latchkey(args, place.env);
    expect([answer.code, answer.stdout]).toEqual([code, ""]);
    expect(answer.stderr).toContain(words);
    expect(answer.stderr).not.toContain("    at ");
  });

  test("in a variable's name is reported at the start; one in a value too, with the value unless it is secret", async () => {
    const env = {
      LATCHKEY_PUBLC_URL: "https://keys.example",
      PORT: "40000000",
      LATCHKEY_LOG_LEVEL: "loud",
      LATCHKEY_PUBLIC_URL: "https://hush:hush@keys.example/?hush",
      LATCHKEY_MASTER_KEY: "hush",
      LATCHKEY_DATABASE_URL: "mysql://x:hush@db/hush",
      LATCHKEY_VALKEY_URL: "http://:hush@valkey",
    };
    const { code, stderr } = await latchkey(["serve"], env);
    expect(code).toBe(1);
    expect(stderr).toContain("LATCHKEY_PUBLC_URL has no meaning here; did you mean LATCHKEY_PUBLIC_URL?");
    expect(stderr).toContain('it is "40000000"');
    expect(stderr).toContain('it is "loud"');
    expect(stderr).toContain('it is "https://…@keys.example/?…"');
    for (const name of ["LATCHKEY_MASTER_KEY", "LATCHKEY_DATABASE_URL", "LATCHKEY_VALKEY_URL"])
      expect(stderr).toContain(`${name} must be`);
    expect(stderr).not.toContain("hush");
  });

  test.each([[["help", "help"]], [["help", "--help"]], [["--help", "-h"]]])(
    "%j asks for help twice, and prints the help",
    async (args) => {
      const { code, stdout, stderr } = await latchkey(args, {});
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toBe((await latchkey([], {})).stdout);
    },
  );

  test("--version prints the release", async () => {
    expect((await latchkey(["--version"], {})).stdout).toMatch(/^latchkey \d+\.\d+\.\d+\n$/);
  });
});
