import { type RawBuilder, sql } from "kysely";

/** Now, or a millisecond after the row's own time: `updated_at` grows with every change, whatever the clock does. */
export const laterThan = (column: string, nowMs: number): RawBuilder<number> =>
  sql<number>`case when ${sql.ref(column)} >= ${nowMs} then ${sql.ref(column)} + 1 else ${nowMs} end`;
