import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../packages/server/test/support/postgres-server.ts";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import type { Engine } from "../workloads/workload.ts";

/** Databases of one run: SQLite files in a temporary folder, and a PostgreSQL server if PostgreSQL is installed. */
export type Databases = {
  engines: Engine[];
  /** The URL of a new, empty database. */
  create(engine: Engine): Promise<string>;
  /**
   * Runs ANALYZE, which autovacuum does within a minute: until then PostgreSQL plans for empty tables and may choose a
   * bad index.
   */
  analyze(): Promise<void>;
  /** CPU time of each PostgreSQL process so far, in microseconds. Empty on systems other than Linux. */
  usage(): Map<number, number>;
  remove(): Promise<void>;
};

export async function openDatabases(): Promise<Databases> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-bench-"));
  const binaries = findProgram("postgres");
  // A commit waits for the disk, as on SQLite with synchronous=FULL.
  const postgres = binaries
    ? await startPostgres(binaries, { fsync: "on", synchronous_commit: "on" })
    : undefined;
  const inPostgres: string[] = [];
  const databases: Databases = {
    engines: postgres ? ["sqlite", "postgres"] : ["sqlite"],
    create: async (engine) => {
      const name = `bench_${randomBytes(6).toString("hex")}`;
      if (engine === "sqlite") return `sqlite:${join(folder, `${name}.db`)}`;
      const { url } = postgres as PostgresServer;
      await query(url, `create database ${name}`);
      inPostgres.push(url.replace(/\/postgres$/, `/${name}`));
      return inPostgres.at(-1) as string;
    },
    async analyze() {
      for (const url of inPostgres) await query(url, "analyze");
    },
    usage: () => (postgres && process.platform === "linux" ? cpuOf(postgres.processes()) : new Map()),
    async remove() {
      await postgres?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  // PostgreSQL would go on running after this process; every other process of the benchmark ends with its IPC channel.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void databases.remove().finally(() => process.exit(1)));
  return databases;
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** A PostgreSQL process has one thread. The first number of its schedstat is that thread's CPU time in nanoseconds. */
function cpuOf(pids: readonly number[]): Map<number, number> {
  const used = new Map<number, number>();
  for (const pid of pids) {
    try {
      used.set(pid, Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000);
    } catch {
      // The process has ended since the list was read.
    }
  }
  return used;
}
