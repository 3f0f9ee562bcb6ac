import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { ofRun } from "./test-run.ts";

/** A database of a single test. `url` may be opened several times, as by several instances. */
export type TestDatabase = { url: string; drop(): Promise<void> };
export type Engine = { name: "sqlite" | "postgres"; isHere: boolean; create(): Promise<TestDatabase> };

/** For tests that are not about late answers: a busy machine must not look like a server that is away. */
export const UNHURRIED = { slack: 10 };

export const sqliteEngine: Engine = {
  name: "sqlite",
  isHere: true,
  async create() {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-test-"));
    return {
      url: `sqlite:${join(folder, "latchkey.db")}`,
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

const serverUrl = inject("postgresUrl");

export const postgresEngine: Engine = {
  name: "postgres",
  isHere: serverUrl !== "",
  async create() {
    const name = `test_${randomBytes(8).toString("hex")}`;
    await asAdmin(`create database ${name}`);
    const url = new URL(serverUrl);
    url.pathname = `/${name}`;
    return { url: url.href, drop: () => asAdmin(`drop database ${name} with (force)`) };
  },
};

export const bothEngines: readonly Engine[] = [sqliteEngine, postgresEngine];

export const engines: readonly Engine[] = ofRun<Engine>({ short: sqliteEngine, long: postgresEngine });

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}
