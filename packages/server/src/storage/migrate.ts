import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import type { Migration } from "./migration.ts";
import { applicationKeys } from "./migrations/0001-application-keys.ts";
import { identityProviders } from "./migrations/0002-identity-providers.ts";
import { customersAndSignOn } from "./migrations/0003-customers-and-sign-on.ts";
import { formerProfiles } from "./migrations/0004-former-profiles.ts";
import { bounds } from "./migrations/0006-bounds.ts";
import { endings } from "./migrations/0007-endings.ts";
import { lists } from "./migrations/0008-lists.ts";
import { runningTotals } from "./migrations/0009-running-totals.ts";
import { events } from "./migrations/0010-events.ts";
import { integrations } from "./migrations/0011-integrations.ts";
import { statistics } from "./migrations/0012-statistics.ts";
import { facts } from "./migrations/0013-facts.ts";
import { members } from "./migrations/0014-members.ts";
import { openidProvider } from "./migrations/0015-openid-provider.ts";
import { providers } from "./migrations/0016-providers.ts";
import { pages } from "./migrations/0017-pages.ts";
import { requests } from "./migrations/0018-requests.ts";
import { endedSessions } from "./migrations/0019-ended-sessions.ts";
import { forgottenEvents } from "./migrations/0020-forgotten-events.ts";
import { signUpLimits } from "./migrations/0021-sign-up-limits.ts";
import { disabledProfiles } from "./migrations/0022-disabled-profiles.ts";
import { erasedPeople } from "./migrations/0023-erased-people.ts";
import { openidClient } from "./migrations/0024-openid-client.ts";
import { idTokenAlg } from "./migrations/0025-id-token-alg.ts";
import { figuresByKey } from "./migrations/0027-figures-by-key.ts";
import { setupLinks } from "./migrations/0028-setup-links.ts";
import { signOnsOfPeople } from "./migrations/0029-sign-ons-of-people.ts";
import { newSqlite } from "./sqlite/new-sqlite.ts";
import type { Database, Storage, Trx } from "./storage.ts";

/** In order. A released migration is never edited. */
export const migrations: readonly Migration[] = [
  applicationKeys,
  identityProviders,
  customersAndSignOn,
  formerProfiles,
  bounds,
  endings,
  lists,
  runningTotals,
  events,
  integrations,
  statistics,
  facts,
  members,
  openidProvider,
  providers,
  pages,
  requests,
  endedSessions,
  forgottenEvents,
  signUpLimits,
  disabledProfiles,
  erasedPeople,
  openidClient,
  idTokenAlg,
  figuresByKey,
  setupLinks,
  signOnsOfPeople,
];

const ADVISORY_LOCK = 4_727_311_002;

/**
 * While a migration waits for the lock of a table, all requests for the table wait behind it. Longer than a request's
 * limit: when the two lock each other out, the request is undone.
 */
const LOCK_MS = 1000;
/** Between two tries, requests are served. */
const PAUSE_MS = 5000;
const TRY_AGAIN_MS = 60_000;

/**
 * Brings the tables up to date and returns the names of the migrations it ran. Each migration is one transaction, with
 * its row in `schema_migrations`, under a lock that all processes share: two processes that start together run it once,
 * and a process that is killed leaves it undone as a whole, for the next start. An empty database gets all migrations
 * in one transaction, because each commit waits for the disk; on SQLite the tables are created as the last migration
 * leaves them, in a quarter of the time. Tables of a newer release stay as they are.
 */
export async function migrate(
  { storage, clock }: { storage: Storage; clock: Clock },
  known: readonly Migration[] = migrations,
): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const applied = await findApplied(storage.db);
    if (applied) await refuseTooNew(storage, applied, known);
    if (applied && known.every(({ version }) => applied.has(version))) return names;
    const most = applied ? 1 : known.length;
    const run = () => storage.transact((trx) => runSome(trx, { storage, clock }, known, most));
    names.push(...(await tryForTables(clock, run)));
  }
}

/** pg_dump locks every table for as long as it runs, which may be hours. */
async function tryForTables<T>(clock: Clock, run: () => Promise<T>): Promise<T> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (clock.monotonicMs() - startedMs >= TRY_AGAIN_MS) throw operatorFault(TABLE_HELD, error);
      await sleep(PAUSE_MS);
    }
  }
}

const LOCK_NOT_AVAILABLE = "55P03";
const TABLE_HELD =
  "a migration needs a table that another program has held for a minute, as pg_dump does until it is done: nothing of it was changed. Run `latchkey migrate` again then.";

/** Whether the database has tables of Latchkey. */
export const hasTables = async (storage: Storage): Promise<boolean> =>
  (await findApplied(storage.db)) !== undefined;

/** Runs the next `most` migrations, in order. */
async function runSome(
  trx: Trx,
  { storage: { engine }, clock }: { storage: Storage; clock: Clock },
  known: readonly Migration[],
  most: number,
): Promise<string[]> {
  if (engine === "postgres") {
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(trx);
    await sql`set local lock_timeout = ${sql.lit(LOCK_MS)}`.execute(trx);
  }
  const isNew = engine === "sqlite" && known === migrations && !(await findApplied(trx));
  if (isNew) for (const text of newSqlite) await sql.raw(text).execute(trx);
  else await makeList(trx);
  const applied = await readApplied(trx);
  const left = known.filter(({ version }) => !applied.has(version)).slice(0, most);
  for (const { version, name, needsVersion, up } of left) {
    if (!isNew) await up(trx, engine);
    const row = { version, name, applied_at: clock.now() };
    const needs = needsVersion !== undefined && { needs_version: needsVersion };
    await trx
      .insertInto("schema_migrations")
      .values({ ...row, ...needs })
      .execute();
  }
  return left.map(({ name }) => name);
}

const makeList = (trx: Trx): Promise<void> =>
  trx.schema
    .createTable("schema_migrations")
    .ifNotExists()
    .addColumn("version", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("applied_at", "bigint", (column) => column.notNull())
    .execute();

/** A release runs on newer tables, unless a migration that it does not know has removed what it uses. */
async function refuseTooNew(
  { db }: Storage,
  applied: ReadonlySet<number>,
  known: readonly Migration[],
): Promise<void> {
  const newest = Math.max(...known.map(({ version }) => version));
  if ([...applied].every((version) => known.some((migration) => migration.version === version))) return;
  const contracted = await db
    .selectFrom("schema_migrations")
    .select(["version", "name"])
    .where("needs_version", ">", newest)
    .orderBy("version")
    .executeTakeFirst();
  if (!contracted) return;
  throw operatorFault(
    `this latchkey is too old for the database: migration ${contracted.version} (${contracted.name}) of a newer release ` +
      "took away tables or columns that it uses. Run the newer release, or restore the backup made before the upgrade.",
  );
}

/** Reads without a lock: most starts have nothing to migrate, and need not wait. `undefined`: no tables. */
const findApplied = (db: Database | Trx): Promise<Set<number> | undefined> =>
  readApplied(db).catch((error) => {
    if (isMissingTable(error)) return undefined;
    throw error;
  });

// PostgreSQL: undefined_table. SQLite has no code for it.
const isMissingTable = ({ code, message }: Error & { code?: string }): boolean =>
  code === "42P01" || message.startsWith("no such table");

async function readApplied(db: Database | Trx): Promise<Set<number>> {
  const rows = await db.selectFrom("schema_migrations").select("version").execute();
  return new Set(rows.map(({ version }) => version));
}
