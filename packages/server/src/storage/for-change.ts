import type { SelectQueryBuilder } from "kysely";
import type { Storage } from "./storage.ts";

/**
 * A row that is about to be changed in the same transaction: nobody else changes it between the look and the change. On SQLite
 * a transaction is the only one that writes.
 */
export const forChange = <DB, TB extends keyof DB, O>(
  { engine }: Pick<Storage, "engine">,
  row: SelectQueryBuilder<DB, TB, O>,
): SelectQueryBuilder<DB, TB, O> => (engine === "postgres" ? row.forUpdate() : row);
