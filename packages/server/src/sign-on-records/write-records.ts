import { sql } from "kysely";
import { forChange } from "../storage/engine.ts";
import { forIds, insertRows } from "../storage/insert-rows.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { createTallies } from "./figures.ts";
import { insertTallies } from "./tallies.ts";

const COLUMNS = [
  "id",
  "store_id",
  "realm_id",
  "profile_id",
  "profile_name",
  "reference",
  "outcome",
  "reason",
  "error",
  "checks",
  "timings",
  "customer_id",
  "by_stranger",
  "counted",
  "redirect_uri",
  "browser",
  "operating_system",
  "network",
  "email_digest",
  "test",
  "idp_answer",
  "request_id",
  "key_id",
  "of_members",
  "started_at",
  "updated_at",
] as const satisfies (keyof Tables["sign_ons"])[];

/** Made of `COLUMNS`, so that a member that is not written does not compile. */
export type RecordRow = Pick<Tables["sign_ons"], (typeof COLUMNS)[number]>;
type WrittenRecords = Pick<RecordRow, "id">[];

/**
 * Joins an attempt and its exchange into one row if both wait, which saves an update. The attempt of any other exchange
 * is in the database already, or waits in another instance.
 */
export function joinRecords(attempts: readonly RecordRow[], exchanges: readonly RecordRow[]) {
  const joined = new Map(attempts.map((row) => [row.id, row]));
  const left: RecordRow[] = [];
  for (const exchange of exchanges) {
    const attempt = joined.get(exchange.id);
    // A failed exchange makes an event, which needs its own row.
    if (!attempt || hasFailed(attempt) || !isExchanged(exchange)) left.push(exchange);
    else {
      const { outcome, reason, customer_id, updated_at } = exchange;
      const key_id = attempt.key_id ?? exchange.key_id;
      joined.set(attempt.id, { ...attempt, outcome, reason, customer_id, key_id, updated_at });
    }
  }
  return { attempts: [...joined.values()], exchanges: left };
}

const isExchanged = ({ outcome }: RecordRow): boolean => outcome === "exchanged";

/** Keeps the outcome of an exchange that another instance has written. Returns the new records of failures. */
export async function writeAttempts(trx: Trx, rows: RecordRow[]): Promise<WrittenRecords> {
  const { inserted, known, before, tallies } = await insertNew(trx, rows);
  const others = known.filter((row) => !hasFailed(row));
  for (const row of await updateAttempts(trx, others)) tallies.note(before.get(row.id), row);
  await insertTallies(trx, tallies.all());
  const exchanged = others.filter(isExchanged);
  if (exchanged.length > 0) await writeExchanges(trx, exchanged);
  return inserted.filter(hasFailed);
}

/** The key that is the client goes before a key whose token has redeemed the code. */
const updateAttempts = insertRows("sign_ons", COLUMNS, {
  ending: sql<RecordRow>`on conflict (id) do update set profile_name = excluded.profile_name, checks = excluded.checks,
    timings = excluded.timings, by_stranger = excluded.by_stranger, started_at = excluded.started_at,
    redirect_uri = excluded.redirect_uri, browser = excluded.browser, operating_system = excluded.operating_system,
    network = excluded.network, email_digest = excluded.email_digest, counted = excluded.counted,
    key_id = coalesce(excluded.key_id, sign_ons.key_id), of_members = coalesce(excluded.of_members, sign_ons.of_members)
  returning *`,
});

/**
 * Returns the records that changed. The later of two exchanges of one code is kept; any exchange overwrites
 * `code_issued` and `expired`, even by a slow clock.
 */
export async function writeExchanges(trx: Trx, rows: RecordRow[]): Promise<WrittenRecords> {
  const { inserted, known, before, tallies } = await insertNew(trx, rows);
  const changed = await updateExchanges(trx, known);
  for (const row of changed) tallies.note(before.get(row.id), row);
  await insertTallies(trx, tallies.all());
  return [...inserted, ...changed];
}

const updateExchanges = insertRows("sign_ons", COLUMNS, {
  ending: sql<RecordRow>`on conflict (id) do update set outcome = excluded.outcome, reason = excluded.reason,
    customer_id = excluded.customer_id, request_id = excluded.request_id, updated_at = excluded.updated_at,
    counted = excluded.counted, key_id = coalesce(sign_ons.key_id, excluded.key_id),
    of_members = coalesce(sign_ons.of_members, excluded.of_members)
  where (sign_ons.outcome in ('code_issued', 'expired') or excluded.updated_at >= sign_ons.updated_at) and (sign_ons.outcome <> excluded.outcome
    or sign_ons.reason is distinct from excluded.reason or sign_ons.customer_id is distinct from excluded.customer_id)
  returning *`,
});

export const hasFailed = ({ outcome }: Pick<RecordRow, "outcome">): boolean => outcome === "failed";

/** Inserts new records, and locks known ones: the figures have their old values, which must not change meanwhile. */
async function insertNew(trx: Trx, given: RecordRow[]) {
  const rows = [...new Map(given.map((row) => [row.id, row])).values()];
  const fresh = new Set((await insertUnknown(trx, rows)).map(({ id }) => id));
  const inserted = rows.filter(({ id }) => fresh.has(id));
  const known = rows.filter(({ id }) => !fresh.has(id));
  const tallies = createTallies();
  for (const row of inserted) tallies.note(undefined, row);
  // Sorted, so that two transactions with the same rows cannot deadlock.
  const held = await lockRecords(trx, known.map(({ id }) => id).sort());
  const before = new Map(held.map((row) => [row.id, row]));
  return { inserted, known, before, tallies };
}

const insertUnknown = insertRows("sign_ons", COLUMNS, {
  ending: sql<Pick<RecordRow, "id">>`on conflict (id) do nothing returning id`,
});

const recordsOf = (db: Database, ids: readonly string[]) =>
  db.selectFrom("sign_ons").selectAll().where("id", "in", ids).orderBy("id");

const AT_ONCE = 100;
const lockRecords = forIds(AT_ONCE, (db, ids) => forChange(db, recordsOf(db, ids)));
