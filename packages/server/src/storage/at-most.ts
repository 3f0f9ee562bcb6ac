import { type RawBuilder, sql } from "kysely";

/**
 * The number of rows of a `limit`. With a bare parameter there, SQLite plans by its value, and so plans the statement
 * again at every run, which costs more than most reads.
 */
export const atMost = (rows: number): RawBuilder<number> => sql<number>`cast(${rows} as integer)`;
