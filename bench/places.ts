import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import {
  findBinaries,
  type PostgresServer,
  startPostgres,
} from "../packages/server/test/support/postgres-server.ts";
import type { Engine } from "./workloads/workload.ts";

/** Databases for the length of the run: files in a folder of our own, and a PostgreSQL of our own. */
export type Places = {
  engines: Engine[];
  newDatabase(engine: Engine): Promise<string>;
  /** What PostgreSQL has used so far, process by process, in microseconds. Linux only: empty elsewhere. */
  databaseUsage(): Map<number, number>;
  remove(): Promise<void>;
};

export async function openPlaces(): Promise<Places> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-bench-"));
  const binaries = findBinaries();
  // On the disk before it is acknowledged, as SQLite with synchronous=FULL.
  const postgres = binaries
    ? await startPostgres(binaries, { fsync: "on", synchronous_commit: "on" })
    : undefined;
  const places: Places = {
    engines: postgres ? ["sqlite", "postgres"] : ["sqlite"],
    newDatabase: async (engine) => {
      const name = `bench_${randomBytes(6).toString("hex")}`;
      if (engine === "sqlite") return `sqlite:${join(folder, `${name}.db`)}`;
      return newPostgresDatabase(postgres as PostgresServer, name);
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
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return url.replace(/\/postgres$/, `/${name}`);
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
