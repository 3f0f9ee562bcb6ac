import { type RawBuilder, sql } from "kysely";

/**
 * How many rows, for `limit`. SQLite looks at the value of a bare parameter there, and so plans the statement anew each time
 * that it is run, which costs more than most of our reads.
 */
export const atMost = (rows: number): RawBuilder<number> => sql<number>`cast(${rows} as integer)`;
