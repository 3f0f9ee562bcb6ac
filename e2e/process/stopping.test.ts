import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const isReady = (url: string) =>
  fetch(`${url}/health/ready`).then(
    (answer) => answer.status === 200,
    () => false,
  );
const isGone = (url: string) =>
  fetch(`${url}/health/live`).then(
    () => false,
    () => true,
  );

describe("a stopping service", () => {
  let place: Place;
  let running: Running;

  beforeAll(async () => {
    place = await newPlace();
    running = await serve(place);
  });
  afterAll(async () => {
    running.child.kill("SIGKILL");
    await running.exited;
    place.leave();
  });

  /** A kept connection, as of a storefront's server or a balancer. */
  type Client = { agent: Agent; faults: string[]; answers: number; isToldToLeave: boolean };
  const newClient = (): Client => ({
    agent: new Agent({ keepAlive: true, maxSockets: 1 }),
    faults: [],
    answers: 0,
    isToldToLeave: false,
  });

  async function ask(client: Client): Promise<void> {
    try {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const asked = request(`${place.url}/openapi.json`, { agent: client.agent }, resolve);
        asked.on("error", reject).end();
      });
      answer.resume();
      await once(answer, "end");
      client.answers++;
      if (answer.statusCode !== 200) client.faults.push(String(answer.statusCode));
      client.isToldToLeave = answer.headers.connection === "close";
    } catch (error) {
      client.faults.push(String((error as NodeJS.ErrnoException).code));
    }
  }

  /** Sends repeatedly, with pauses of up to a fifth of a second, until it is stopped or a request fails. */
  async function keepAsking(client: Client): Promise<void> {
    for (let i = 0; i < 10_000 && !client.isToldToLeave && client.faults.length === 0; i++) {
      await ask(client);
      await sleep((i * 37) % 200);
    }
  }

  test("answers with Connection: close, resets no kept connection and fails no request; idle ones end cleanly", async () => {
    const busy = Array.from({ length: 12 }, newClient);
    const late = newClient();
    const [host, port] = ["127.0.0.1", Number(new URL(place.url).port)];
    const quiet = connect({ host, port, allowHalfOpen: true });
    let told = "";
    let fault: unknown;
    quiet.on("data", (chunk) => {
      told += chunk;
    });
    quiet.on("error", (error) => {
      fault = error;
    });
    const quietEnded = once(quiet, "end");
    quiet.write("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await until(() => told.includes("200"));
    await ask(late);
    const asking = busy.map(keepAsking);
    await until(() => busy.every(({ answers }) => answers > 0));
    expect([late, ...busy].some(({ isToldToLeave }) => isToldToLeave)).toBe(false);

    running.child.kill("SIGTERM");
    await until(async () => !(await isReady(place.url)));
    // This connection was idle when the drain began, and gets its next request only now.
    await ask(late);
    await Promise.all(asking);
    for (const { faults, isToldToLeave } of [late, ...busy])
      expect({ faults, isToldToLeave }).toEqual({ faults: [], isToldToLeave: true });
    await quietEnded;
    expect([fault, told.match(/HTTP\/1\.1/g)?.length]).toEqual([undefined, 1]);
    quiet.end();
    expect(await running.exited).toBe(0);
  });
});

describe("the start for services", () => {
  test("that docs/install.md names is one process, which a signal stops cleanly", async () => {
    const place = await newPlace();
    const page = readFileSync(`${ROOT}/docs/install.md`, "utf8");
    const unit = readFileSync(`${ROOT}/deploy/systemd/latchkey@.service`, "utf8");
    const [, shell = "", command = ""] = /^ExecStart=(\S+) -c '(.+)'$/m.exec(unit) ?? [];
    expect(command).toMatch(/serve$/);
    expect(page, "the systemd unit and the line to type are the same").toContain(`\n${command}\n`);
    const env = { PATH: process.env.PATH, ...place.env };
    const child = spawn(shell, ["-c", command], { cwd: ROOT, env, stdio: ["ignore", "ignore", "inherit"] });
    const exited = once(child, "exit");
    await until(() => isReady(place.url));
    if (process.platform === "linux")
      expect(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")).toBe("");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    place.leave();
  });
});

describe("npx latchkey serve", () => {
  /** npm sends signals to the shell in between, which forwards them to no child. Ctrl-C reaches all three by itself. */
  test.concurrent.each([
    ["npx is told to", "SIGTERM", false],
    ["npx is killed", "SIGKILL", false],
    ["Ctrl-C is pressed", "SIGINT", true],
  ] as const)("stops cleanly when %s", async (_, signal, isForAll) => {
    const place = await newPlace();
    const npx = spawn("npx", ["latchkey", "serve"], {
      cwd: ROOT,
      env: { ...process.env, ...place.env },
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    const group = -(npx.pid as number);
    let output = "";
    npx.stdout.on("data", (chunk) => {
      output += chunk;
    });
    try {
      await until(() => isReady(place.url));
      process.kill(isForAll ? group : -group, signal);
      await until(() => output.includes('"event":"stopped"'));
      await until(() => isGone(place.url));
    } finally {
      // All three share a process group; an empty group needs no signal.
      try {
        process.kill(group, "SIGKILL");
      } catch {}
      place.leave();
    }
  });
});

test("serves health and metrics on their own port alone, until the end of the process", async () => {
  const place = await newPlace();
  const operations = `http://localhost:${await freePort()}`;
  const env = { ...place.env, LATCHKEY_OPERATIONS_PORT: new URL(operations).port };
  const running = await serve({ ...place, env }, ["serve"], "pipe", { operationsUrl: operations });
  const statuses = (path: string) =>
    Promise.all([place.url, operations].map(async (url) => (await fetch(url + path)).status));
  for (const path of ["/health/live", "/health/ready", "/metrics"])
    expect(await statuses(path)).toEqual([404, 200]);
  expect(await statuses("/v2/store")).toEqual([401, 404]);
  running.child.kill("SIGTERM");
  await until(async () => !(await isReady(operations)));
  expect((await fetch(`${operations}/health/ready`)).headers.get("connection")).toBe("close");
  expect(await running.exited).toBe(0);
  place.leave();
});
