import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestProject } from "vitest/node";
import { findProgram } from "./programs.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** A PostgreSQL for the length of the run, on loopback, in a folder that is deleted with it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const named = process.env.LATCHKEY_TEST_POSTGRES_URL;
  const binaries = findProgram("postgres");
  if (named || !binaries) {
    project.provide("postgresUrl", named ?? "");
    return undefined;
  }
  const server = await startPostgres(binaries);
  project.provide("postgresUrl", server.url);
  return server.remove;
}

const STOPS = { smart: "SIGTERM", fast: "SIGINT", immediate: "SIGQUIT" } as const;

export type PostgresServer = {
  url: string;
  /** The ids of all its processes. Linux only. */
  processes(): number[];
  start(): Promise<void>;
  /** PostgreSQL's three ways: smart, fast and immediate. */
  stop(mode?: keyof typeof STOPS): Promise<void>;
  /** Pauses all its processes (SIGSTOP) until `resume`. Linux only. */
  pause(): void;
  resume(): void;
  remove(): Promise<void>;
};

/**
 * A server that can be stopped and started again, with its data. It does not wait for the disk unless `changes` say so.
 */
export async function startPostgres(
  binaries: string,
  changes: Record<string, string> = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-postgres-"));
  const port = await freePort();
  const user = unprivilegedUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const flags = ["-D", folder, "-A", "trust", "-U", "latchkey", "-E", "UTF8", "--no-sync"];
  const made = spawnSync(join(binaries, "initdb"), flags, { ...user, cwd: folder, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    fsync: "off",
    max_connections: 200,
    ...changes,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    server = spawn(join(binaries, "postgres"), ["-D", folder, ...options], {
      ...user,
      cwd: folder,
      stdio: "ignore",
    });
    await untilListening(port);
  }
  async function stop(mode: keyof typeof STOPS = "immediate"): Promise<void> {
    if (server?.exitCode !== null) return;
    const ended = new Promise((resolve) => server?.once("exit", resolve));
    server.kill(STOPS[mode]);
    await ended;
  }
  const processes = () => {
    const pid = server?.pid as number;
    return [pid, ...childrenOf(pid)];
  };
  function signalAll(signal: "SIGSTOP" | "SIGCONT"): void {
    for (const process_ of processes()) {
      try {
        process.kill(process_, signal);
      } catch {
        // The process has ended in the meantime.
      }
    }
  }
  await start();
  return {
    processes,
    pause: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    url: `postgres://latchkey@127.0.0.1:${port}/postgres`,
    start,
    stop,
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The fourth field of /proc/<pid>/stat is the parent; the second may contain spaces, so parsing begins at its closing
 * bracket.
 */
function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** PostgreSQL refuses to run as root. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

/**
 * A port for a later start, below 32768, because systems give out ports from there to any program. A file reserves the
 * port for an hour: otherwise another process would find it free until a program listens, and connect to that program.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS; tries++) {
    const port = FIRST_PORT + (nextPort++ % PORTS);
    if (!reserve(port)) continue;
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  throw new Error(`no port is free; ${RESERVED} says who has had one within the hour`);
}

function reserve(port: number): boolean {
  mkdirSync(RESERVED, { recursive: true });
  const path = join(RESERVED, String(port));
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (Date.now() - statSync(path).mtimeMs < 3_600_000) return false;
    writeFileSync(path, String(process.pid));
    return true;
  }
}

const RESERVED = join(tmpdir(), `latchkey-ports-${process.getuid?.() ?? "all"}`);
const [FIRST_PORT, PORTS] = [20_000, 12_000];
let nextPort = process.pid * 50;

async function untilListening(port: number): Promise<void> {
  const { default: pg } = await import("pg");
  for (let tries = 0; tries < 600; tries++) {
    const client = new pg.Client({ connectionString: `postgres://latchkey@127.0.0.1:${port}/postgres` });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await sleep(100);
    }
  }
  throw new Error("PostgreSQL did not start within a minute");
}
