import { atMost } from "../storage/at-most.ts";
import { insertRows } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { MinuteTally } from "./figures.ts";

/**
 * Differences that are not added up yet. This release writes `sign_on_tallies_by_key`. An earlier release writes
 * `sign_on_tallies`, without a key, and takes rows only from there.
 */
const insertRowsByKey = insertRows("sign_on_tallies_by_key", [
  "store_id",
  "profile_id",
  "key_id",
  "of_members",
  "minute",
  "figures",
]);

export const insertTallies = (trx: Trx, tallies: readonly MinuteTally[]): Promise<unknown> =>
  insertRowsByKey(
    trx,
    tallies.map((tally) => ({ ...tally, figures: JSON.stringify(tally.figures) })),
  );

export const hasTallies = async (db: Database): Promise<boolean> =>
  (await findTally.first(db, {})) !== undefined || (await findEarlier.first(db, {})) !== undefined;

/** Deletes at most `limit` tallies and returns them, those of an earlier release last. */
export async function takeTallies(trx: Trx, limit: number): Promise<MinuteTally[]> {
  const taken = await takeByKey.all(trx, { limit });
  const left = limit - taken.length;
  const earlier = left > 0 ? await takeEarlier.all(trx, { limit: left }) : [];
  return [...taken, ...earlier.map((row) => ({ ...row, key_id: "", of_members: 0 }))].map((row) => ({
    ...row,
    figures: JSON.parse(row.figures),
  }));
}

const firstOf = (table: "sign_on_tallies_by_key" | "sign_on_tallies") =>
  statement((db, _: object) => db.selectFrom(table).select("position").orderBy("position").limit(atMost(1)));

const [findTally, findEarlier] = [firstOf("sign_on_tallies_by_key"), firstOf("sign_on_tallies")];

const takeByKey = statement((db, of: { limit: number }) =>
  db
    .deleteFrom("sign_on_tallies_by_key")
    .where(
      "position",
      "in",
      db.selectFrom("sign_on_tallies_by_key").select("position").orderBy("position").limit(atMost(of.limit)),
    )
    .returningAll(),
);

const takeEarlier = statement((db, of: { limit: number }) =>
  db
    .deleteFrom("sign_on_tallies")
    .where(
      "position",
      "in",
      db.selectFrom("sign_on_tallies").select("position").orderBy("position").limit(atMost(of.limit)),
    )
    .returningAll(),
);
