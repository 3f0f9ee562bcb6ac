import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { postgresEngine, type TestDatabase } from "../../packages/server/test/support/engines.ts";
import { startFaultProxy } from "../../packages/server/test/support/fault-proxy.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

const WORKERS = 2;

describe("latchkey serve --workers", () => {
  test("is refused with SQLite, with the reason", async () => {
    const place = await newPlace();
    const { code, stdout, stderr } = await latchkey(["serve", "--workers", "2"], place.env);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^latchkey: --workers needs PostgreSQL: [^\n]+\n$/);
    place.leave();
  });

  test.each(["0", "65", "two", "1.5", "-1", ""])("%j is refused as a number of workers", async (count) => {
    const { code, stderr } = await latchkey(["serve", `--workers=${count}`], {});
    expect(code).toBe(2);
    expect(stderr).toContain("--workers must be a whole number from 1 to 64, or auto");
  });
});

// The processes are read from /proc.
describe.skipIf(!postgresEngine.isHere || process.platform !== "linux")("two workers", () => {
  let database: TestDatabase;
  let place: Place;
  let running: Running;
  const started: Running[] = [];

  beforeAll(async () => {
    database = await postgresEngine.create();
    place = await newPlace(database.url);
  });
  afterAll(async () => {
    // Ends the primary of a failed test; its workers end with it.
    for (const { child } of started) child.kill("SIGKILL");
    await database?.drop();
    place?.leave();
  });

  const workersOf = ({ child: { pid } }: Running): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  const isAlive = (pid: number): boolean => {
    try {
      // A zombie counts as ended too.
      return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return false;
    }
  };
  const ask = async (path: string): Promise<{ status: number; text: string; isClosed: boolean }> => {
    const answer = await askOn(undefined, path);
    let text = "";
    for await (const chunk of answer) text += chunk;
    return { status: answer.statusCode ?? 0, text, isClosed: answer.headers.connection === "close" };
  };
  /** Without an agent every request has its own connection. */
  const askOn = (agent: Agent | undefined, path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { agent: agent ?? false, signal: AbortSignal.timeout(60_000) };
      request(`${place.url}${path}`, options, resolve).on("error", reject).end();
    });
  const readiness = async () => JSON.parse((await ask("/health/ready")).text);
  const figures = async () => (await ask("/metrics")).text;
  const figure = async (name: string): Promise<number> => {
    const line = (await figures()).split("\n").find((text) => text.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  };
  const allServe = () => until(async () => (await figure('latchkey_workers{state="answering"}')) === WORKERS);
  const lines = () => running.logLines().map((line) => JSON.parse(line));
  const start = async () => {
    running = await serve(place, ["serve", "--workers", String(WORKERS)]);
    started.push(running);
    await allServe();
  };
  const stop = async () => {
    running.child.kill("SIGTERM");
    expect(await running.exited).toBe(0);
  };

  describe("behind one address", () => {
    beforeAll(start);
    afterAll(stop);

    test("both serve, and each log line is complete and names its process", async () => {
      const seen = () =>
        new Set(lines().flatMap(({ event, worker }) => (event === "request" ? [worker] : [])));
      await until(async () => {
        await Promise.all(Array.from({ length: 200 }, () => ask("/v2/store")));
        return seen().size === WORKERS;
      });
      const said = lines().find(({ event }) => event === "workers");
      expect(said).toMatchObject({ workers: WORKERS, note: expect.stringContaining("counts for itself") });
      expect(lines().filter(({ event }) => event === "ready")).toHaveLength(WORKERS);
      // A worker that has just started does not report the others.
      expect(lines().filter(({ what }) => /workers do not answer/.test(what))).toEqual([]);
    });

    test("either worker gives the sum of both metrics: no request is missing, and memory is the total", async () => {
      // Any status: an address with many requests without a token gets 429 in place of 401.
      const asked = async () =>
        (await figures())
          .split("\n")
          .filter((line) =>
            line.startsWith('latchkey_http_requests_total{method="GET",route="/v2/customers",'),
          )
          .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
      const before = await asked();
      await Promise.all(Array.from({ length: 60 }, () => ask("/v2/customers")));
      await sleep(1100);
      for (let round = 0; round < 6; round++) {
        await until(async () => (await asked()) === before + 60);
        await sleep(50);
      }
      const text = await figures();
      const bucket = text
        .split("\n")
        .find((line) =>
          /duration_seconds_bucket\{le="\+Inf",method="GET",route="\/v2\/customers"\}/.test(line),
        );
      expect(Number(bucket?.split(" ").at(-1))).toBe(before + 60);
      expect(await figure("process_resident_memory_bytes")).toBeGreaterThan(
        rssOf(workersOf(running)[0] as number) * 1.2,
      );
      expect(await figure("latchkey_database_connections_max")).toBe(WORKERS * 10);
    });

    test("a counter does not fall while one worker is paused or after one has died", async () => {
      const count =
        'latchkey_http_request_duration_seconds_count{method="GET",route="/v2/authentication-realms"}';
      const startedAt = await figure("process_start_time_seconds");
      expect(Math.abs(Date.now() / 1000 - startedAt)).toBeLessThan(600);
      // Each has served some of them.
      const served = () =>
        new Set(
          lines().flatMap(({ route, worker }) => (route === "/v2/authentication-realms" ? [worker] : [])),
        );
      let total = 0;
      await until(async () => {
        await Promise.all(Array.from({ length: 200 }, () => ask("/v2/authentication-realms")));
        total += 200;
        return served().size === WORKERS;
      });
      await until(async () => (await figure(count)) === total);
      const [still] = workersOf(running) as [number];
      process.kill(still, "SIGSTOP");
      try {
        await until(async () => (await figure('latchkey_workers{state="silent"}')) === 1);
        expect(await figure(count)).toBe(total);
      } finally {
        process.kill(still, "SIGKILL");
      }
      await allServe();
      await until(async () => (await figure("latchkey_workers_lost_total")) === 1);
      expect(await figure(count)).toBe(total);
      expect(await figure("process_start_time_seconds")).toBe(startedAt);
    });

    test("a paused worker is reported, and takes no connection from the other", async () => {
      const [still] = workersOf(running) as [number];
      process.kill(still, "SIGSTOP");
      try {
        for (let round = 0; round < 20; round++) expect((await ask("/v2/store")).status).toBe(401);
        await until(async () => (await readiness()).degraded?.includes("1 of 2 workers do not answer"));
        expect((await ask("/health/ready")).status).toBe(200);
        await until(async () => (await figure('latchkey_workers{state="silent"}')) === 1);
      } finally {
        process.kill(still, "SIGCONT");
      }
      await until(
        async () => !(await readiness()).degraded?.some((note: string) => note.includes("workers do not")),
      );
    });

    test("a paused primary does not keep a worker from answering", async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      (await askOn(agent, "/health/live")).resume();
      const pid = running.child.pid as number;
      process.kill(pid, "SIGSTOP");
      try {
        // The earlier result is cached for half a second.
        await until(async () => {
          const answer = await askOn(agent, "/health/ready");
          let text = "";
          for await (const chunk of answer) text += chunk;
          return answer.statusCode === 200 && text.includes("1 of 2 workers do not answer");
        });
        await until(async () => (await figure('latchkey_workers{state="silent"}')) === 1);
        // The sum of a counter is unknown then: a single worker's figure would look like a restart of all.
        const told = (await figures()).split("\n").filter((line) => line.startsWith("# TYPE "));
        expect(told.length).toBeGreaterThan(10);
        expect(told.filter((line) => !line.endsWith(" gauge"))).toEqual([]);
        expect(await figure("process_start_time_seconds")).toBeNaN();
      } finally {
        process.kill(pid, "SIGCONT");
      }
      agent.destroy();
      await until(
        async () => !(await readiness()).degraded?.some((note: string) => note.includes("workers do not")),
      );
    });

    test("a killed worker is replaced and logged, and the other continues to serve", async () => {
      const [killed, other] = workersOf(running) as [number, number];
      process.kill(killed, "SIGKILL");
      // From this moment on, its accepted connections break, and new ones go to the other worker.
      for (let round = 0; round < 20; round++) expect((await ask("/v2/store")).status).toBe(401);
      expect(isAlive(killed)).toBe(false);
      await allServe();
      const now = workersOf(running);
      expect(now).toContain(other);
      expect(now).toHaveLength(WORKERS);
      expect(lines().findLast(({ event }) => event === "worker_lost")).toMatchObject({
        pid: killed,
        signal: "SIGKILL",
        level: "error",
      });
      await until(async () => (await figure("latchkey_workers_lost_total")) === 2);
    });
  });

  test("SIGTERM: readiness fails first, answers carry Connection: close, no request is lost, exit code 0", async () => {
    await start();
    const agents = Array.from({ length: 16 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const faults: string[] = [];
    let answers = 0;
    const asking = agents.map(async (agent, index) => {
      for (let rounds = 0; rounds < 10_000; rounds++) {
        try {
          const answer = await askOn(agent, "/openapi.json");
          answer.resume();
          await once(answer, "end");
          answers++;
          if (answer.statusCode !== 200) faults.push(String(answer.statusCode));
          if (answer.headers.connection === "close") return;
        } catch (error) {
          faults.push(String((error as NodeJS.ErrnoException).code));
          return;
        }
        await sleep((rounds * 37 + index) % 100);
      }
    });
    await until(() => answers > 100);
    const pids = workersOf(running);
    running.child.kill("SIGTERM");
    await until(async () => (await ask("/health/ready")).status === 503);
    await Promise.all(asking);
    expect(faults).toEqual([]);
    expect(await running.exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(lines().filter(({ event }) => event === "stopped")).toHaveLength(WORKERS);
  });

  test("a signal to all processes at once, as from a terminal or a service manager, stops them in order", async () => {
    await start();
    for (const pid of workersOf(running)) process.kill(pid, "SIGINT");
    running.child.kill("SIGINT");
    expect(await running.exited).toBe(0);
    expect(lines().filter(({ event }) => event === "stopped")).toHaveLength(WORKERS);
  });

  test("a second signal ends at once, unless it comes within half a second of the first", async () => {
    await start();
    const pids = workersOf(running);
    const { child } = running;
    const beganMs = performance.now();
    await until(() => child.exitCode !== null || !child.kill("SIGTERM"));
    expect(performance.now() - beganMs).toBeGreaterThan(500);
    expect(await running.exited).toBe(1);
    await until(() => pids.every((pid) => !isAlive(pid)));
  });

  test("the workers of a killed primary stop in order", async () => {
    await start();
    const pids = workersOf(running);
    const { url } = place;
    running.child.kill("SIGKILL");
    await until(() => pids.every((pid) => !isAlive(pid)));
    await until(() => lines().filter(({ event }) => event === "stopped").length === WORKERS);
    await expect(fetch(`${url}/health/live`)).rejects.toThrow();
  });

  test("a reason that prevents the start is printed once", async () => {
    await start();
    const taken = await latchkey(["serve", "--workers", "4"], place.env);
    expect([taken.code, taken.stderr.match(/another program listens there/g)?.length]).toEqual([1, 1]);
    await stop();
    const { LATCHKEY_DATABASE_URL: _, ...env } = place.env;
    const nowhere = `postgres://latchkey@127.0.0.1:${await freePort()}/none`;
    const away = await latchkey(["serve", "--workers", "4"], { ...env, LATCHKEY_DATABASE_URL: nowhere });
    expect([away.code, away.stderr.match(/cannot use the database/g)?.length]).toEqual([1, 1]);
  });

  test("503 while the database swallows packets: readiness of all workers fails within its second", async () => {
    const line = await startFaultProxy(Number(new URL(database.url).port));
    const env = { ...place.env, LATCHKEY_DATABASE_URL: line.via(database.url) };
    running = await serve({ ...place, env }, ["serve", "--workers", String(WORKERS)]);
    started.push(running);
    await allServe();
    line.blackHole();
    await until(async () => (await ask("/health/ready")).status === 503);
    for (let round = 0; round < 3; round++) {
      const { status, text } = await ask("/health/ready");
      expect([status, text]).toEqual([503, expect.stringContaining("the database does not answer")]);
    }
    line.mend();
    await until(async () => (await ask("/health/ready")).status === 200);
    await stop();
    await line.close();
  });

  test("a separate port for health and metrics answers for all workers too", async () => {
    const operations = `http://localhost:${await freePort()}`;
    const env = { ...place.env, LATCHKEY_OPERATIONS_PORT: new URL(operations).port };
    running = await serve({ ...place, env }, ["serve", "--workers", "2"], "pipe", {
      operationsUrl: operations,
    });
    await until(async () =>
      (await (await fetch(`${operations}/metrics`)).text()).includes('{state="answering"} 2'),
    );
    expect((await ask("/metrics")).status).toBe(404);
    await stop();
  });
});

const rssOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
