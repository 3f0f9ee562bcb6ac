import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../packages/server/test/support/postgres-server.ts";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import type { Engine } from "../workloads/workload.ts";

/** Databases for the length of the run: files in a folder of our own, and a PostgreSQL of our own. */
export type Places = {
  engines: Engine[];
  newDatabase(engine: Engine): Promise<string>;
  /**
   * Has PostgreSQL look at what its tables have become, as its autovacuum does within a minute: until then it plans by a table that was
   * empty, and may go through thousands of rows by an index that does not fit.
   */
  analyze(): Promise<void>;
  /** What PostgreSQL has used so far, process by process, in microseconds. Linux only: empty elsewhere. */
  databaseUsage(): Map<number, number>;
  remove(): Promise<void>;
};

export async function openPlaces(): Promise<Places> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-bench-"));
  const binaries = findProgram("postgres");
  // On the disk before it is acknowledged, as SQLite with synchronous=FULL.
  const postgres = binaries
    ? await startPostgres(binaries, { fsync: "on", synchronous_commit: "on" })
    : undefined;
  const inPostgres: string[] = [];
  const places: Places = {
    engines: postgres ? ["sqlite", "postgres"] : ["sqlite"],
    newDatabase: async (engine) => {
      const name = `bench_${randomBytes(6).toString("hex")}`;
      if (engine === "sqlite") return `sqlite:${join(folder, `${name}.db`)}`;
      const url = await newPostgresDatabase(postgres as PostgresServer, name);
      inPostgres.push(url);
      return url;
    },
    async analyze() {
      for (const url of inPostgres) await ask(url, "analyze");
    },
    databaseUsage: () => (postgres && process.platform === "linux" ? cpuOf(postgres.processes()) : new Map()),
    async remove() {
      await postgres?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  // PostgreSQL would live on without us; all other processes end when they can no longer reach us.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void places.remove().finally(() => process.exit(1)));
  return places;
}

async function newPostgresDatabase({ url }: PostgresServer, name: string): Promise<string> {
  await ask(url, `create database ${name}`);
  return url.replace(/\/postgres$/, `/${name}`);
}

async function ask(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** Its processes have one thread each, whose time on a processor is the first number here, in nanoseconds. */
function cpuOf(pids: readonly number[]): Map<number, number> {
  const used = new Map<number, number>();
  for (const pid of pids) {
    try {
      used.set(pid, Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000);
    } catch {
      // It ended in the meantime.
    }
  }
  return used;
}
