import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DefaultQueryExecutor, PostgresAdapter } from "kysely";
import type { Storage } from "../../src/storage/storage.ts";

/**
 * Records the statements that the service sends during the tests; scripts/check-plans.ts reads their plans. The tests'
 * own statements are left out: the stack of the function that built a statement shows the origin.
 */
const FOLDER = fileURLToPath(new URL("../../../../node_modules/.cache/latchkey-statements", import.meta.url));

export type SeenStatement = { engine: Storage["engine"]; sql: string; from: string };

export const forgetStatements = (): void => rmSync(FOLDER, { recursive: true, force: true, maxRetries: 5 });

export const makeStatementsFolder = (): unknown => mkdirSync(FOLDER, { recursive: true });

export function readStatements(): SeenStatement[] {
  const lines = readdirSync(FOLDER).flatMap((file) => readFileSync(join(FOLDER, file), "utf8").split("\n"));
  const seen = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as SeenStatement);
  return [...new Map(seen.map((statement) => [shapeOf(statement), statement])).values()];
}

/** Lists of values have any length: two statements that differ in that alone count as one. */
const shapeOf = ({ engine, sql }: SeenStatement): string =>
  `${engine} ${sql
    .replaceAll(/\$\d+/g, "?")
    .replaceAll(/\?(, \?)+/g, "?…")
    .replaceAll(/\(\?…\)(, \(\?…\))+/g, "(?…)…")}`;

const FRAMES = 20;
/** It has no plan, and finding its origin takes longer than the statement. */
const MAKES_TABLES = /^(create|alter|drop) /i;
const OURS = /packages\/server\/(src\/(?!.*\.test\.ts).*?):\d+:\d+/;

const known = new Set<string>();
const isWatched = Symbol.for("latchkey: statements are watched");

/** Every statement is compiled in the call that sends it, so the stack still shows the caller. */
export function watchAllStatements(): void {
  const executor = DefaultQueryExecutor.prototype as DefaultQueryExecutor & { [isWatched]?: boolean };
  if (executor[isWatched]) return;
  executor[isWatched] = true;
  const compile = executor.compileQuery;
  executor.compileQuery = function (node, queryId) {
    const compiled = compile.call(this, node, queryId);
    note(this.adapter instanceof PostgresAdapter ? "postgres" : "sqlite", compiled.sql);
    return compiled as never;
  };
}

function note(engine: Storage["engine"], sql: string): void {
  const key = `${engine} ${sql}`;
  if (known.has(key) || MAKES_TABLES.test(sql)) return;
  const from = OURS.exec(senderOf() ?? "")?.[1];
  // Not for a test's own statement: the service may send the same one later.
  if (from === undefined) return;
  known.add(key);
  if (from.startsWith("src/storage/migrations/")) return;
  const seen: SeenStatement = { engine, sql, from };
  appendFileSync(join(FOLDER, `${process.pid}.txt`), `${JSON.stringify(seen)}\n`);
}

/** The first caller that is neither Kysely nor this file. */
function senderOf(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  const callers = stack.split("\n").slice(1);
  return callers.find((line) => !/kysely|statements-seen|<anonymous>|native/.test(line));
}
