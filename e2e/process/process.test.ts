import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LATCHKEY, latchkey, WATCHED } from "../../packages/server/test/support/command.ts";
import { bothEngines, type TestDatabase } from "../../packages/server/test/support/engines.ts";
import { quickest, until } from "../../packages/server/test/support/until.ts";
import {
  createStore,
  getToken,
  type Made,
  newPlace,
  type Place,
  type Running,
  serve,
} from "../support/running.ts";

const json = { "content-type": "application/json" };
const rename = (name: string) => JSON.stringify({ data: { type: "application_key", name } });

describe("a bad configuration", () => {
  test("is refused with a list of every fault", async () => {
    const { code, stderr } = await latchkey(["serve"], {
      PORT: "99999",
      LATCHKEY_PUBLIC_URL: "http://keys.example",
      LATCHKEY_DATABASE_URL: "mysql://x",
      LATCHKEY_TRUST_PROXY: "10.0.0.0/99",
      LATCHKEY_VALKEY_URL: "http://:s3cret@valkey",
      LATCHKEY_LOG_LEVEL: "loud",
    });
    expect(code).toBe(1);
    for (const name of [
      "PORT",
      "PUBLIC_URL",
      "DATABASE_URL",
      "MASTER_KEY",
      "TRUST_PROXY",
      "VALKEY_URL",
      "LOG_LEVEL",
    ]) {
      expect(stderr).toContain(name);
    }
    expect(stderr).not.toContain("    at ");
    expect(stderr).not.toContain("s3cret");
  });

  test.each(["serve", "rotate-keys"])(
    "without the master key latchkey %s names the file where `latchkey dev` keeps it: a new key could open nothing",
    async (command) => {
      const place = await newPlace();
      const { LATCHKEY_MASTER_KEY: _, ...env } = place.env;
      const fresh = await latchkey([command], env);
      expect([fresh.code, fresh.stderr]).toEqual([1, expect.stringContaining("Make one: openssl")]);
      const file = join(place.folder, "master.key");
      writeFileSync(file, "A".repeat(43));
      const { code, stderr } = await latchkey([command], { ...env, LATCHKEY_LOG_LEVEL: "loud" });
      expect(code).toBe(1);
      expect(stderr).toContain(`export LATCHKEY_MASTER_KEY=$(cat '${file}')`);
      expect(stderr).not.toContain("Make one");
      expect(stderr).toContain("LATCHKEY_LOG_LEVEL");
      place.leave();
    },
  );

  test("a port in use is explained", async () => {
    const place = await newPlace();
    const running = await serve(place);
    const { code, stderr } = await latchkey(["serve"], {
      ...place.env,
      LATCHKEY_DATABASE_URL: "sqlite::memory:",
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining("set PORT to a free one")]);
    running.child.kill("SIGKILL");
    await running.exited;
    place.leave();
  });
});

describe.each(bothEngines)("a service on $name", (engine) => {
  let database: TestDatabase;
  let place: Place;
  let running: Running;
  let made: Made;
  let token: string;

  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    place = await newPlace(database.url);
    running = await serve(place);
    made = await createStore(place, "--rate-limit", "500");
    token = await getToken(place.url, made);
  });
  afterAll(async () => {
    running?.child.kill("SIGKILL");
    await running?.exited;
    await database?.drop();
    place?.leave();
  });

  const here = test.skipIf(!engine.isHere);
  const put = (body: string) =>
    fetch(`${place.url}/v2/application-keys/${made.application_key.id}`, {
      method: "PUT",
      headers: { ...json, authorization: `Bearer ${token}` },
      body,
    });
  const getKey = async () => {
    const url = `${place.url}/v2/application-keys/${made.application_key.id}`;
    return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).json() as Promise<{
      data: { name: string };
    }>;
  };

  here("knows a store that the command line made beside it", async () => {
    expect((await put(rename("Made beside"))).status).toBe(200);
  });

  here("refuses a key that the command line deleted, within a second", async () => {
    const round = async () => {
      const other = await createStore(place);
      const doomed = await getToken(place.url, other);
      const status = async () =>
        (await fetch(`${place.url}/v2/store`, { headers: { authorization: `Bearer ${doomed}` } })).status;
      expect(await status()).toBe(200);
      await latchkey(
        ["key", "delete", "--store", other.store.id, "--id", other.application_key.id, "--yes"],
        place.env,
      );
      return until(async () => (await status()) === 401);
    };
    expect(await quickest(1000, round)).toBeLessThanOrEqual(1000);
  });

  here("keeps what it has acknowledged when it is killed the next moment (I2)", async () => {
    expect((await put(rename("Before the kill"))).status).toBe(200);
    running.child.kill("SIGKILL");
    await running.exited;
    running = await serve(place);
    expect((await getKey()).data.name).toBe("Before the kill");
  });

  here("notes the last use of a key within seconds, and on SIGTERM at the latest", async () => {
    await getKey();
    running.child.kill("SIGTERM");
    expect(await running.exited).toBe(0);
    const { stdout } = await latchkey(["key", "list", "--store", made.store.id], place.env);
    expect(stdout).not.toContain("never");
    running = await serve(place);
  });

  here(
    "finishes what is under way on SIGTERM, goes unready first, and exits with 0 within ten seconds (T50)",
    async () => {
      const body = rename("Sent slowly");
      const socket = connect(Number(new URL(place.url).port), "127.0.0.1");
      socket.write(
        `PUT /v2/application-keys/${made.application_key.id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
      );
      let answer = "";
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      await until(() => socket.bytesWritten > 0);
      running.child.kill("SIGTERM");
      await until(async () => (await fetch(`${place.url}/health/ready`)).status === 503);
      socket.write(body.slice(10));
      // Requests that have not ended within ten seconds are cut off, with exit code 1.
      expect(await running.exited).toBe(0);
      expect(answer).toContain("HTTP/1.1 200");
      expect(answer).toMatch(/^connection: close\r$/im);
      running = await serve(place);
      expect((await getKey()).data.name).toBe("Sent slowly");
    },
  );

  here("writes JSON lines to standard output, and no secret into them (I10)", async () => {
    // Readiness comes a moment before the log line.
    await until(() => running.logLines().some((line) => JSON.parse(line).event === "ready"));
    const lines = running.logLines();
    expect(lines.join("\n")).not.toContain(token);
    expect(lines.join("\n")).not.toContain(made.application_key.client_secret);
  });

  here(
    "says of an address at which no latchkey is that, and not that it runs on another database",
    async () => {
      const url = `${place.url}/docs`;
      const { code, stderr } = await latchkey(
        ["prove-limits", "--store", made.store.id, "--url", url],
        place.env,
      );
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${url} answers 404`)]);
    },
  );

  here("proves its limits: neither one key's flood nor one stranger's takes from the others", async () => {
    const prove = () =>
      latchkey(
        ["prove-limits", "--store", made.store.id, "--seconds", "2", "--url", `${place.url}/`],
        place.env,
      );
    let { code, stdout, stderr } = await prove();
    // On a busy machine evenly sent requests may arrive at once, more than any bucket holds.
    for (let rounds = 0; rounds < 4 && code !== 0; rounds++) ({ code, stdout, stderr } = await prove());
    expect(stdout + stderr).toContain("PROVEN: no request within a reservation was refused");
    // A client can send from any loopback address on Linux alone.
    if (process.platform === "linux") expect(stdout).toContain("a stranger's flood took from nobody");
    expect(code).toBe(0);
    const { stdout: keys } = await latchkey(["key", "list", "--store", made.store.id], place.env);
    expect(keys).not.toContain("prove-limits");
  });

  here("takes the keys of a proof away also when its terminal is closed, or nobody reads on", async () => {
    const prove = () =>
      spawn(
        process.execPath,
        [LATCHKEY, "prove-limits", "--store", made.store.id, "--seconds", "2", "--url", place.url],
        { env: { PATH: process.env.PATH, ...WATCHED, ...place.env } },
      );
    const closed = prove();
    let said = "";
    let again: NodeJS.Timeout | undefined;
    for await (const chunk of closed.stderr) {
      said += chunk;
      // A signal to its process, and another to its group.
      if (said.includes("served/refused")) again ??= setInterval(() => closed.kill("SIGHUP"), 1);
    }
    clearInterval(again);
    expect(said).toContain("interrupted: nothing is proven");
    const unread = prove();
    unread.stderr.destroy();
    let found = "";
    for await (const chunk of unread.stdout) found += chunk;
    expect(found).toContain("served in all");
    const { stdout: keys } = await latchkey(["key", "list", "--store", made.store.id], place.env);
    expect(keys).toContain(made.application_key.id);
    expect(keys).not.toContain("prove-limits");
  });
});

describe("a SQLite file", () => {
  test("is served by one process: a second one is refused with the remedy, and a killed one leaves no lock", async () => {
    const place = await newPlace();
    const first = await serve(place);
    const second = await latchkey(["serve"], { ...place.env, PORT: "1" });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("another latchkey already serves");
    first.child.kill("SIGKILL");
    await first.exited;
    const third = await serve(place);
    third.child.kill("SIGKILL");
    await third.exited;
    place.leave();
  });
});

describe("the command line", () => {
  test.concurrent.each([
    [["--help"], "prove-limits"],
    [["serve", "--help"], "LATCHKEY_DATABASE_URL"],
    [["store", "--help"], "store create --name"],
    [["key", "-h"], "key rotate --store"],
    [["dev", "--help"], "--reset"],
    [["doctor", "--help"], "nine requirements"],
    [["rotate-keys", "--help"], "open secrets that the new key has sealed"],
    [["migrate", "--help"], "up to date"],
    [["backup", "--help"], "while the service runs"],
    [["restore", "--help"], "Keeps the replaced database under another name"],
    [["after-restore", "--help"], "--rotate-secrets"],
    [["prove-limits", "--help"], "--seconds"],
    [["openapi"], '"openapi": "3.1.0"'],
  ])("latchkey %s says what there is", async (args, text) => {
    expect(await latchkey(args, {})).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(text),
      stderr: "",
    });
  });

  test.concurrent.each([
    [["nonsense"], 2, "there is no command"],
    [["store", "paint"], 2, 'store has no command "paint"'],
    [["store", "create"], 2, "--name is required"],
    [["store", "create", "--name", " "], 2, "--name must have"],
    [["store", "create", "--name", "x", "--rate-limit", "0"], 2, "--rate-limit must be"],
    [["store", "create", "--name", "x", "--max-rate-limit", "99"], 2, "--max-rate-limit must be"],
    [["store", "delete", "--id", "x"], 1, "there is no store"],
    [["store", "update", "--id", "x", "--name", "y"], 1, "there is no store"],
    [["key", "list", "--store", "x"], 1, "there is no store"],
    [["key", "list", "--colour"], 2, "--colour"],
    [["doctor"], 2, "<discovery-url> is missing"],
    [["backup"], 2, "<file> is missing"],
    [["restore"], 2, "<file> is missing"],
    [["prove-limits", "--store", "x"], 1, "there is no store"],
  ])("latchkey %s fails with words, not with a stack", async (args, exitCode, text) => {
    const { code, stdout, stderr } = await latchkey(args, { LATCHKEY_DATABASE_URL: "sqlite::memory:" });
    expect([code, stdout]).toEqual([exitCode, ""]);
    expect(stderr).toContain(text);
    expect(stderr).not.toContain("    at ");
    expect(stderr).not.toContain("s3cret");
  });

  test("administers stores and keys from creation to deletion", async () => {
    const place = await newPlace();
    const run = async (...args: string[]) => (await latchkey([...args, "--json"], place.env)).stdout;
    const made = await createStore(place);
    expect(made.store).toMatchObject({ name: "Shop", rate_limit: 100, meta: { max_rate_limit: 100 } });
    const store = ["--store", made.store.id];
    await run("store", "update", "--id", made.store.id, "--name", "Better shop", "--rate-limit", "50");
    expect(JSON.parse(await run("store", "list")).stores).toMatchObject([
      { id: made.store.id, name: "Better shop", rate_limit: 50, meta: { max_rate_limit: 100 } },
    ]);
    const lowered = await latchkey(
      ["store", "update", "--id", made.store.id, "--max-rate-limit", "40"],
      place.env,
    );
    expect(lowered).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("lower --rate-limit too"),
    });
    const raised = JSON.parse(await run("store", "update", "--id", made.store.id, "--max-rate-limit", "900"));
    expect(raised.store).toMatchObject({ rate_limit: 50, meta: { max_rate_limit: 900 } });
    const { application_key: key } = JSON.parse(
      await run("key", "create", ...store, "--name", "Till", "--reserve", "5"),
    );
    expect(key).toMatchObject({ name: "Till", reserved_rate_limit: 5 });
    const rotated = JSON.parse(await run("key", "rotate", ...store, "--id", key.id, "--grace-seconds", "0"));
    expect(rotated.application_key.client_secret).not.toBe(key.client_secret);
    expect(JSON.parse(await run("key", "list", ...store)).application_keys).toHaveLength(2);
    await latchkey(["key", "delete", ...store, "--id", key.id, "--yes"], place.env);
    expect(JSON.parse(await run("key", "list", ...store)).application_keys).toHaveLength(1);
    await latchkey(["store", "delete", "--id", made.store.id, "--yes"], place.env);
    expect(JSON.parse(await run("store", "list")).stores).toEqual([]);
    place.leave();
  });
});
