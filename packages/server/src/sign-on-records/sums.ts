import { type SqlBool, sql } from "kysely";
import type { Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { addFigures, type SignOnFigures } from "./figures.ts";

/**
 * The rows of sums. `sign_on_statistics` has all sign-ons by profile. `sign_on_statistics_parts` has parts of them: the
 * shoppers' sign-ons of a key, and the members' sign-ons at a profile. What is in no part is the difference, so sums by
 * key and by profile always agree.
 */
const KEYS_OF_SUMS = {
  sign_on_statistics: ["store_id", "step", "starts_at", "profile_id"],
  sign_on_statistics_parts: ["store_id", "kind", "step", "starts_at", "part_id"],
} as const;

type SumsTable = keyof typeof KEYS_OF_SUMS;
/** A row without its figures. */
type Sum<T extends SumsTable> = Omit<Tables[T], "figures">;

/** Collects figures by row, and adds them to the rows of the table. */
export function createSums<T extends SumsTable>(table: T) {
  const columns: readonly string[] = KEYS_OF_SUMS[table];
  const sums = new Map<string, { row: Sum<T>; figures: SignOnFigures }>();
  const valueIn = (row: object, column: string) => (row as Record<string, string | number>)[column];
  const nameOf = (row: object): string => columns.map((column) => valueIn(row, column)).join(" ");

  /** Looks up key by key along the index. For a list of keys SQLite would compare each column with all its values. */
  async function readKnown(trx: Trx): Promise<Tables[T][]> {
    const keys = [...sums.values()].map(({ row }) => {
      const values = columns.map((column) =>
        column === "starts_at" ? sql`cast(${valueIn(row, column)} as bigint)` : sql`${valueIn(row, column)}`,
      );
      return sql`(${sql.join(values)})`;
    });
    const isSame = columns.map(
      (column) => sql<SqlBool>`${sql.ref(`known.${column}`)} = ${sql.ref(`wanted.${column}`)}`,
    );
    const { rows } = await sql<Tables[T]>`
      with wanted (${sql.join(columns.map((column) => sql.ref(column)))}) as (values ${sql.join(keys)})
      select known.* from wanted cross join ${sql.table(table)} as known
      where ${sql.join(isSame, sql` and `)}`.execute(trx);
    return rows;
  }

  return {
    add(row: Sum<T>, figures: SignOnFigures): void {
      const name = nameOf(row);
      const sum = sums.get(name);
      if (sum) addFigures(sum.figures, figures);
      else sums.set(name, { row, figures: structuredClone(figures) });
    },
    async write(trx: Trx): Promise<void> {
      if (sums.size === 0) return;
      for (const known of await readKnown(trx)) {
        const sum = sums.get(nameOf(known));
        if (sum) addFigures(sum.figures, JSON.parse(known.figures));
      }
      const rows = [...sums.values()].map(({ row, figures }) => ({
        ...row,
        figures: JSON.stringify(figures),
      }));
      await trx
        .insertInto(table as "sign_on_statistics")
        .values(rows as unknown as Tables["sign_on_statistics"][])
        .onConflict((conflict) =>
          conflict
            .columns(columns as (keyof Tables["sign_on_statistics"])[])
            .doUpdateSet(({ ref }) => ({ figures: ref("excluded.figures") })),
        )
        .execute();
    },
  };
}
