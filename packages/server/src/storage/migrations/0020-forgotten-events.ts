import type { Migration } from "../migration.ts";

/**
 * The attributes under the hash of the last forgotten event, as JSON: they prove its age. The previous release deletes
 * events without them; the proof returns with the next event that this release deletes.
 */
export const forgottenEvents: Migration = {
  version: 20,
  name: "forgotten-events",
  async up(trx) {
    await trx.schema.alterTable("event_heads").addColumn("forgotten_event", "text").execute();
  },
};
