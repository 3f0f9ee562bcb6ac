import { randomBytes } from "node:crypto";
import pg from "pg";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import type { Storage } from "../packages/server/src/storage/storage.ts";
import { hasRun } from "../packages/server/test/support/observed.ts";
import { startPostgres } from "../packages/server/test/support/postgres-server.ts";
import {
  absentPrograms,
  findProgram,
  PROGRAMS,
  whySkipped,
} from "../packages/server/test/support/programs.ts";
import { readStatements, type SeenStatement } from "../packages/server/test/support/statements-seen.ts";
import { explainOnPostgres, explainOnSqlite } from "./plans/explain.ts";
import { fill, openToFill } from "./plans/fill.ts";
import { faultsOf } from "./plans/judge.ts";
import { EXCEPTIONS, type Exception } from "./plans/rules.ts";

// After a whole test run, checks that no statement of the service reads or sorts a table that grows without limit.
const clock = steadyClock();
const seen = readStatements()
  .filter(({ sql }) => /^\s*(select|insert|update|delete|with)\b/.test(sql))
  // A test creates this table and alters it.
  .filter(({ sql }) => !sql.includes('"altered"'));
const excepted = new Set<Exception>();
const failures: string[] = [];

await checkSqlite();
const binaries = findProgram("postgres");
const named = process.env.LATCHKEY_TEST_POSTGRES_URL;
if (named) await checkPostgres(named);
else if (binaries) {
  const server = await startPostgres(binaries);
  await checkPostgres(server.url).finally(server.remove);
} else if (process.env.CI) {
  failures.push(`CI must not skip the plans of PostgreSQL: ${whySkipped("postgres")}`);
} else {
  console.warn(`Skipped: plans on PostgreSQL: ${whySkipped("postgres")}.`);
}
const reason = whyExceptionsAreNotChecked();
if (reason) console.warn(`Not checked: whether each exception is still needed, because ${reason}.`);
else
  for (const exception of EXCEPTIONS.filter((known) => !excepted.has(known)))
    failures.push(`no statement needs this exception: ${exception.from}, ${exception.sql}`);
if (failures.length > 0) {
  console.error(`The cost of these statements grows with the number of rows:\n\n${failures.join("\n\n")}`);
  process.exit(1);
}
const countOf = (engine: Storage["engine"]) => seen.filter((statement) => statement.engine === engine).length;
console.log(
  `Of ${countOf("sqlite")} statements on SQLite and ${countOf("postgres")} on PostgreSQL, none reads or sorts a table that grows.`,
);

/** Checks twice: without table statistics, as on a new database, and with statistics, as on a database in service. */
async function checkSqlite(): Promise<void> {
  const storage = await openToFill({ clock }, "sqlite::memory:");
  await check(storage, explainOnSqlite);
  await fill({ storage, clock });
  await check(storage, explainOnSqlite);
  await storage.close();
}

/** Checks filled tables: on empty ones PostgreSQL uses any index, because all cost nothing. */
async function checkPostgres(serverUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  const name = `plans_${randomBytes(8).toString("hex")}`;
  await admin.query(`create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const storage = await openToFill({ clock }, url.href);
  try {
    await fill({ storage, clock });
    await check(storage, explainOnPostgres);
  } finally {
    await storage.close();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  }
}

async function check(storage: Storage, explain: typeof explainOnSqlite): Promise<void> {
  for (const statement of seen.filter(({ engine }) => engine === storage.engine)) {
    const plans = await explain(storage, statement.sql);
    const faults = plans.map((plan) => faultsOf(statement.sql, plan));
    if (faults.some((found) => found.length === 0) || isExcepted(statement)) continue;
    const fault = `${statement.engine}, ${statement.from}: ${faults[0]?.join("; ")}`;
    failures.push(`${fault}\n${statement.sql.trim()}\n${plans[0]?.text.trimEnd()}`);
  }
}

/** An exception may belong to a statement that only a skipped test sends, so the check needs a complete run. */
function whyExceptionsAreNotChecked(): string | undefined {
  if (!hasRun("short")) return "only some of the tests ran";
  if (!hasRun("long")) return "the tests of `npm run test:all` have not run since";
  const absent = absentPrograms().map((name) => PROGRAMS[name].of);
  return absent.length > 0 ? `there was no ${absent.join(", no ")}` : undefined;
}

function isExcepted({ from, sql }: SeenStatement): boolean {
  const exception = EXCEPTIONS.find((known) => known.from === from && known.sql.test(sql.trim()));
  if (exception) excepted.add(exception);
  return exception !== undefined;
}
