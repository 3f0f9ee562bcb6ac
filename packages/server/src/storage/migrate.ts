import { sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { applicationKeys } from "./migrations/0001-application-keys.ts";
import { identityProviders } from "./migrations/0002-identity-providers.ts";
import { customersAndSignOn } from "./migrations/0003-customers-and-sign-on.ts";
import { bounds } from "./migrations/0006-bounds.ts";
import type { Storage, Trx } from "./storage.ts";

export type Migration = { name: string; up(trx: Trx, engine: Storage["engine"]): Promise<void> };

/** In order; a migration that was released is never edited. Its place in the list is its version. */
export const migrations: readonly Migration[] = [
  applicationKeys,
  identityProviders,
  customersAndSignOn,
  bounds,
];

const ADVISORY_LOCK = 4_727_311_002;

/**
 * Brings the tables up to date and says which migrations it ran. All of it is one transaction under one lock, so two
 * processes that start together do it once, and one that is killed half-way leaves the database as it was.
 */
export async function migrate(
  { storage, clock }: { storage: Storage; clock: Clock },
  known: readonly Migration[] = migrations,
): Promise<string[]> {
  if ((await versionOf(storage)) === known.length) return [];
  return storage.db.transaction().execute(async (trx) => {
    if (storage.engine === "postgres") await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(trx);
    const version = await currentVersion(trx);
    if (version > known.length) {
      throw operatorFault(
        `the database is at version ${version}, and this latchkey only knows ${known.length}. ` +
          "It was written by a newer release: run that one, or restore the backup made before the upgrade.",
      );
    }
    const pending = known.slice(version);
    for (const [index, migration] of pending.entries()) {
      await migration.up(trx, storage.engine);
      await trx
        .insertInto("schema_migrations")
        .values({ version: version + index + 1, name: migration.name, applied_at: clock.now() })
        .execute();
    }
    return pending.map((migration) => migration.name);
  });
}

/** A look without a lock: most starts have nothing to do, and need not wait for anybody. */
async function versionOf({ db }: Storage): Promise<number | undefined> {
  const query = db.selectFrom("schema_migrations").select(({ fn }) => fn.max("version").as("version"));
  const row = await query.executeTakeFirst().catch(() => undefined);
  return row?.version;
}

async function currentVersion(trx: Trx): Promise<number> {
  await trx.schema
    .createTable("schema_migrations")
    .ifNotExists()
    .addColumn("version", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("applied_at", "bigint", (column) => column.notNull())
    .execute();
  const row = await trx
    .selectFrom("schema_migrations")
    .select(({ fn }) => fn.max("version").as("version"))
    .executeTakeFirst();
  return row?.version ?? 0;
}
