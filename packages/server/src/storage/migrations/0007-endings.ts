import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Trx } from "../storage.ts";

/** Stores that are being deleted, tokens that a restore has ended, and an index for everything that is swept. */
export const endings: Migration = {
  version: 7,
  name: "endings",
  async up(trx, engine) {
    await trx.schema.alterTable("schema_migrations").addColumn("needs_version", "integer").execute();
    await trx.schema.alterTable("stores").addColumn("deleted_at", "bigint").execute();
    await trx.schema.alterTable("stores").addColumn("tokens_from", "bigint").execute();
    await makeIndexes(trx);
    if (engine === "postgres") await announceRemovedKeys.execute(trx);
  },
};

async function makeIndexes(trx: Trx): Promise<void> {
  await trx.schema
    .createIndex("access_token_revocations_by_store")
    .on("access_token_revocations")
    .column("store_id")
    .execute();
  await trx.schema
    .createIndex("idempotent_answers_by_store")
    .on("idempotent_answers")
    .column("store_id")
    .execute();
  await trx.schema
    .createIndex("idempotent_answers_by_expiry")
    .on("idempotent_answers")
    .column("expires_at")
    .execute();
  await trx.schema
    .createIndex("sign_on_attempts_with_identity")
    .on("sign_on_attempts")
    .column("code_expires_at")
    .where(sql.ref("identity"), "is not", null)
    .execute();
}

/** An empty notice means that anything may have changed: instances then read the signing keys again. */
const announceRemovedKeys = sql`
  create function latchkey_announce_all() returns trigger language plpgsql as $$
  begin
    perform pg_notify('latchkey_changes', '');
    return null;
  end $$;
  create trigger signing_keys_announce after delete on signing_keys
    for each row execute function latchkey_announce_all();
`;
