import { sql } from "kysely";
import type { Database, Storage, Trx } from "../storage.ts";

/**
 * SQLite chooses an index by the statistics in sqlite_stat1. Without them it assumes that any column leaves ten rows,
 * the store's id as well as an e-mail address, and takes any index that begins with the store. ANALYZE counts every
 * index, which takes a second for a million rows, during which the service would serve nothing. So this writes what
 * ANALYZE would find in a large database (sqlite.org/lang_analyze.html, "Fixed Results Of ANALYZE"): plans are then the
 * same on every machine, and for a new store as for a store with a million customers.
 */
const ROWS = 1_000_000;

/** Columns in which one value leaves many rows: the number of values, where the columns before have one value each. */
const VALUES: Record<string, number> = {
  store_id: 10,
  realm_id: 1,
  profile_id: 2,
  issuer: 1,
  outcome: 4,
  reason: 10,
};

/** Here `client_id` is the store's id at its provider; in every other table a client id names one row. */
const VALUES_OF_IDENTITIES: Record<string, number> = { ...VALUES, client_id: 1 };

/** Tables with a few rows for each store. */
const FEW_ROWS = 10_000;
const FEW = new Set([
  "authentication_realms",
  "customer_authentication_settings",
  "deleted_profiles",
  "id_token_keys",
  "oidc_profiles",
  "schema_migrations",
  "signing_keys",
  "stores",
]);

type IndexFacts = { table: string; name: string; columns: string; isUnique: number; isPartial: number };
type Statistic = { tbl: string; idx: string; stat: string };

/** Writes the statistics if they differ: after a migration, and after an ANALYZE by hand. */
export async function writeStatistics(storage: Storage): Promise<void> {
  const wanted = (await listIndexes(storage.db)).map(statisticOf);
  const there = await readStatistics(storage.db);
  if (JSON.stringify(there) === JSON.stringify(wanted)) return;
  await storage.transact((trx) => replaceStatistics(trx, wanted));
}

/** The rows of the table, then how many rows one value of the first column leaves, of the first two, and so on. */
function statisticOf({ table, name, columns, isUnique, isPartial }: IndexFacts): Statistic {
  const values = FEW.has(table) ? {} : table === "customer_identities" ? VALUES_OF_IDENTITIES : VALUES;
  const rows = FEW.has(table) ? FEW_ROWS : isPartial ? ROWS / 10 : ROWS;
  const left = [rows];
  for (const column of columns.split(","))
    left.push(column in values ? Math.ceil((left.at(-1) as number) / (values[column] as number)) : 1);
  if (isUnique) left[left.length - 1] = 1;
  return { tbl: table, idx: name, stat: left.join(" ") };
}

/** A `without rowid` table has no index for its key: its statistics have the table's own name. */
async function listIndexes(db: Database): Promise<IndexFacts[]> {
  const { rows } = await sql<IndexFacts>`
    select t.name as "table",
      case when l.origin = 'pk' and t.sql like '%without rowid' then t.name else l.name end as name,
      l."unique" as "isUnique", l.partial as "isPartial",
      (select group_concat(coalesce(name, '')) from (select name from pragma_index_info(l.name) order by seqno)) as columns
    from sqlite_master t join pragma_index_list(t.name) l
    where t.type = 'table' and t.name not like 'sqlite%' order by t.name, name`.execute(db);
  return rows;
}

async function readStatistics(db: Database): Promise<Statistic[] | undefined> {
  const { rows } = await sql`select name from sqlite_master where name = 'sqlite_stat1'`.execute(db);
  if (rows.length === 0) return undefined;
  const found = await sql<Statistic>`select tbl, idx, stat from sqlite_stat1 order by tbl, idx`.execute(db);
  return found.rows;
}

async function replaceStatistics(trx: Trx, statistics: readonly Statistic[]): Promise<void> {
  // Counts nothing in the schema's table: the first run creates sqlite_stat1, the last makes SQLite read it.
  await sql`analyze sqlite_schema`.execute(trx);
  await sql`delete from sqlite_stat1`.execute(trx);
  const rows = statistics.map(({ tbl, idx, stat }) => sql`(${tbl}, ${idx}, ${stat})`);
  await sql`insert into sqlite_stat1 (tbl, idx, stat) values ${sql.join(rows)}`.execute(trx);
  await sql`analyze sqlite_schema`.execute(trx);
}
