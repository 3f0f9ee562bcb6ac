import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { createTallies } from "./figures.ts";
import { insertTallies } from "./statistics.ts";

/** How records reach the database, in the transaction that also notes what they change in the figures. */

export type RecordRow = Tables["sign_ons"];
type Written = Pick<RecordRow, "id">[];

/**
 * The exchange may have been written first, by another instance: then its outcome is the later one, and stands. Says which records
 * were not there before and have failed.
 */
export async function writeAttempts(trx: Trx, storage: Storage, rows: RecordRow[]): Promise<Written> {
  const { inserted, known, before, tallies } = await insertNew(trx, storage, rows);
  const others = known.filter((row) => !hasFailed(row));
  if (others.length > 0) {
    const written = await trx
      .insertInto("sign_ons")
      .values(others)
      .onConflict((conflict) =>
        conflict.column("id").doUpdateSet(({ ref }) => ({
          profile_name: ref("excluded.profile_name"),
          checks: ref("excluded.checks"),
          timings: ref("excluded.timings"),
          by_stranger: ref("excluded.by_stranger"),
          started_at: ref("excluded.started_at"),
          redirect_uri: ref("excluded.redirect_uri"),
          browser: ref("excluded.browser"),
          operating_system: ref("excluded.operating_system"),
          network: ref("excluded.network"),
          email_digest: ref("excluded.email_digest"),
          counted: ref("excluded.counted"),
        })),
      )
      .returningAll()
      .execute();
    for (const row of written) tallies.note(before.get(row.id), row);
  }
  await insertTallies(trx, tallies.all());
  return inserted.filter(hasFailed);
}

/** Says which records say something else now. */
export async function writeExchanges(trx: Trx, storage: Storage, rows: RecordRow[]): Promise<Written> {
  const { inserted, known, before, tallies } = await insertNew(trx, storage, rows);
  const written: RecordRow[] = [...inserted];
  if (known.length > 0) {
    const changed = await trx
      .insertInto("sign_ons")
      .values(known)
      .onConflict((conflict) =>
        conflict
          .column("id")
          .doUpdateSet(({ ref }) => ({
            outcome: ref("excluded.outcome"),
            reason: ref("excluded.reason"),
            customer_id: ref("excluded.customer_id"),
            request_id: ref("excluded.request_id"),
            updated_at: ref("excluded.updated_at"),
            counted: ref("excluded.counted"),
          }))
          .whereRef("excluded.updated_at", ">=", "sign_ons.updated_at")
          .where(({ eb, or, ref }) =>
            or([
              eb("sign_ons.outcome", "<>", ref("excluded.outcome")),
              eb("sign_ons.reason", "is distinct from", ref("excluded.reason")),
              eb("sign_ons.customer_id", "is distinct from", ref("excluded.customer_id")),
            ]),
          ),
      )
      .returningAll()
      .execute();
    for (const row of changed) tallies.note(before.get(row.id), row);
    written.push(...changed);
  }
  await insertTallies(trx, tallies.all());
  return written;
}

export const hasFailed = ({ outcome }: Pick<RecordRow, "outcome">): boolean => outcome === "failed";

/**
 * Inserts those that are not there, and holds those that are until the transaction ends: what they said before is what the figures
 * have of them, and nobody else may change it meanwhile.
 */
async function insertNew(trx: Trx, { engine }: Storage, given: RecordRow[]) {
  const rows = [...new Map(given.map((row) => [row.id, row])).values()];
  const fresh = await trx
    .insertInto("sign_ons")
    .values(rows)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id")
    .execute();
  const isFresh = new Set(fresh.map(({ id }) => id));
  const [inserted, known] = [
    rows.filter(({ id }) => isFresh.has(id)),
    rows.filter(({ id }) => !isFresh.has(id)),
  ];
  const tallies = createTallies();
  for (const row of inserted) tallies.note(undefined, row);
  const held =
    known.length === 0
      ? []
      : await trx
          .selectFrom("sign_ons")
          .selectAll()
          .where(
            "id",
            "in",
            known.map(({ id }) => id),
          )
          // In one order, so that two who hold the same ones do not wait for each other.
          .orderBy("id")
          .$if(engine === "postgres", (query) => query.forUpdate())
          .execute();
  return { inserted, known, before: new Map(held.map((row) => [row.id, row])), tallies };
}
