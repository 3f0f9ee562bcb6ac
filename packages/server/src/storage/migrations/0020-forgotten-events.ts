import type { Migration } from "../migration.ts";

/**
 * What the hash of the last forgotten event covers, as JSON: it proves how old that event was. The release before
 * forgets without it; the proof is there again with the next event that this release forgets.
 */
export const forgottenEvents: Migration = {
  version: 20,
  name: "forgotten-events",
  async up(trx) {
    await trx.schema.alterTable("event_heads").addColumn("forgotten_event", "text").execute();
  },
};
