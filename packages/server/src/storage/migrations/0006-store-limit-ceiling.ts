import type { Migration } from "../migrate.ts";

/** Without a value the limit itself is the ceiling: the release before writes none. */
export const storeLimitCeiling: Migration = {
  name: "ceiling of a store's limit",
  async up(trx) {
    await trx.schema.alterTable("stores").addColumn("max_rate_limit", "integer").execute();
    await trx
      .updateTable("stores")
      .set(({ ref }) => ({ max_rate_limit: ref("rate_limit") }))
      .execute();
  },
};
