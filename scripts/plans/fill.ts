import { type Insertable, sql } from "kysely";
import { createStore } from "../../packages/server/src/create-store.ts";
import type { Clock } from "../../packages/server/src/lib/clock.ts";
import { newId } from "../../packages/server/src/lib/ids.ts";
import { openStorage } from "../../packages/server/src/storage/open.ts";
import { openPostgres } from "../../packages/server/src/storage/postgres/postgres.ts";
import type { Storage } from "../../packages/server/src/storage/storage.ts";
import type { Tables } from "../../packages/server/src/storage/tables.ts";
import { insertCrowd } from "../../packages/server/test/support/many-rows.ts";

/** Enough stores that PostgreSQL uses an index to find a store. */
const STORES = 200;

/**
 * Creates the tables. On PostgreSQL the storage has no time limits, which a statement with thousands of rows could
 * exceed.
 */
export async function openToFill(deps: { clock: Clock }, databaseUrl: string): Promise<Storage> {
  const storage = await openStorage(deps, databaseUrl);
  if (storage.engine === "sqlite") return storage;
  await storage.close();
  return openPostgres(databaseUrl, { patient: true });
}

/** Fills a large store, two small stores and many empty ones, with rows in every index. */
export async function fill({ storage, clock }: { storage: Storage; clock: Clock }): Promise<void> {
  const { db } = storage;
  for (const count of [3000, 3, 3]) {
    const { store } = await createStore({ storage, clock }, { name: "Shop", rate_limit: 10_000 });
    await insertCrowd(storage, { storeId: store.id, count, overAt: clock.now() });
    await fillRest(storage, store.id, count);
    await fillLog(storage, store.id, count);
    await fillStatistics(storage, store.id, count);
    await fillIntegrations(storage, store.id, count);
  }
  for (let made = 0; made < STORES; made++) {
    const { store } = await createStore({ storage, clock }, { name: "Empty", rate_limit: 1 });
    await fillLog(storage, store.id, 200);
    await fillIntegrations(storage, store.id, 1);
  }
  await sql`update customers set password_hash = 'p' where email like '%1@%'`.execute(db);
  await sql`update customer_tokens set idp_session = id`.execute(db);
  await sql`update sign_on_attempts set idp_session = id`.execute(db);
  // Many different values, so that PostgreSQL uses the indexes of these columns.
  await sql`update sign_ons set outcome = substr(id, 36), profile_id = substr(id, 34), counted = 1, email_digest = id,
    test = case when substr(id, 35) = '00' then 1 end, of_members = case when substr(id, 35) = '11' then 1 end`.execute(
    db,
  );
  await sql`analyze`.execute(db);
}

/** Fills the tables that `insertCrowd` does not. */
async function fillRest(storage: Storage, store_id: string, count: number): Promise<void> {
  const ids = (share = 1) => Array.from({ length: Math.ceil(count * share) }, newId);
  const times = { created_at: 0, updated_at: 0 };
  const keys = ids();
  const realms = ids(0.3);
  await insertMany(
    storage,
    "application_keys",
    keys.map((id, index) => ({
      id,
      store_id,
      name: "n",
      client_id: id,
      reserved_rate_limit: index % 2,
      role: "administrator",
      openid_client: "pkce",
      ...times,
    })),
  );
  await insertMany(
    storage,
    "application_key_secrets",
    keys.map((id) => ({ id, store_id, application_key_id: id, secret_hash: id, created_at: 0 })),
  );
  await insertMany(
    storage,
    "authentication_realms",
    realms.map((id) => ({
      id,
      store_id,
      name: "n",
      redirect_uris: "[]",
      duplicate_email_policy: "p",
      purpose: "customers",
      ...times,
    })),
  );
  await insertMany(
    storage,
    "members",
    keys.map((id, index) => ({
      id,
      store_id,
      name: "n",
      email: id,
      email_key: id,
      role: index % 10 === 0 ? "administrator" : "viewer",
      ...(index % 2 === 0 && { profile_id: id, issuer: "i", subject: id }),
      ...times,
    })),
  );
  await fillProfiles(storage, store_id, realms);
  await fillEnded(storage, store_id, count);
}

async function fillProfiles(storage: Storage, store_id: string, realms: readonly string[]): Promise<void> {
  const times = { created_at: 0, updated_at: 0 };
  const texts = {
    name: "n",
    discovery_url: "u",
    client_id: "c",
    sealed_client_secret: "s",
    provisioning: "p",
  };
  const rest = { enabled: 1, flow: "brokered", former_profile_ids: "[]", purpose: "customers", ...times };
  await insertMany(
    storage,
    "oidc_profiles",
    realms.map((realm_id) => ({ id: realm_id, store_id, realm_id, ...texts, ...rest })),
  );
  await insertMany(
    storage,
    "setup_links",
    realms.map((profile_id, expires_at) => ({
      id: newId(),
      store_id,
      realm_id: profile_id,
      profile_id,
      token_hash: profile_id,
      created_at: 0,
      expires_at,
    })),
  );
  await insertMany(
    storage,
    "deleted_profiles",
    realms.map(() => ({ id: newId(), store_id, former_profile_ids: "[]" })),
  );
}

/** Fills the tables of what has ended: revocations, sessions, erasures and old answers. */
async function fillEnded(storage: Storage, store_id: string, count: number): Promise<void> {
  const ids = () => Array.from({ length: count }, newId);
  await insertMany(
    storage,
    "access_token_revocations",
    ids().map((token_id, expires_at) => ({ token_id, store_id, expires_at })),
  );
  await insertMany(
    storage,
    "ended_idp_sessions",
    ids().map((subject, ended_at) => ({
      store_id,
      profile_id: "p",
      subject,
      idp_session: subject,
      ended_at,
    })),
  );
  await insertMany(
    storage,
    "erased_digests",
    ids().map((digest, erased_at) => ({ store_id, person_id: digest, digest, erased_at })),
  );
  await insertMany(
    storage,
    "idempotent_answers",
    ids().map((key_hash, expires_at) => ({ key_hash, store_id, sealed_answer: "", expires_at })),
  );
}

/** Fills the event log with ten types of events, the same number of each type. */
async function fillLog(storage: Storage, store_id: string, count: number): Promise<void> {
  const texts = { source: "s", digest: "d", previous_hash: "p", hash: "h", data: "{}" };
  await insertMany(
    storage,
    "events",
    Array.from({ length: count }, (_, at) => ({
      store_id,
      sequence: at + 1,
      id: newId(),
      type: `customer.${at % 10}`,
      subject: newId(),
      actor_id: `actor ${at % 50}`,
      person_id: newId(),
      time: at,
      latest_time: at,
      salt: "s",
      ...texts,
    })),
  );
  const ends = { last_sequence: count, last_hash: "h", latest_time: count, first_sequence: 1 };
  const head = { store_id, ...ends, forgotten_hash: "", oldest_time: 0 };
  await storage.db.insertInto("event_heads").values(head).execute();
  const erasures = Array.from({ length: Math.ceil(count / 10) }, () => ({
    store_id,
    person_id: newId(),
    asked_at: 0,
  }));
  await insertMany(storage, "event_erasures", erasures);
}

/** Fills the statistics, and their parts, with `count` rows for each step: minute, hour and day. */
async function fillStatistics(storage: Storage, store_id: string, count: number): Promise<void> {
  const steps = ["minute", "hour", "day"];
  await insertMany(
    storage,
    "sign_on_statistics",
    Array.from({ length: count * steps.length }, (_, at) => ({
      store_id,
      step: steps[at % steps.length] as string,
      starts_at: Math.floor(at / steps.length / 2) * 60_000,
      profile_id: `profile ${at % 2}`,
      figures: "{}",
      forget_at: at,
    })),
  );
  await insertMany(
    storage,
    "sign_on_statistics_parts",
    Array.from({ length: count * steps.length }, (_, at) => ({
      store_id,
      kind: at % 2 === 0 ? "key" : "members",
      step: steps[at % steps.length] as string,
      starts_at: Math.floor(at / steps.length / 2) * 60_000,
      part_id: `part ${at % 2}`,
      figures: "{}",
      forget_at: at,
    })),
  );
}

/** Fills integrations, of which a tenth are due, and deliveries, half of which belong to one integration. */
async function fillIntegrations(storage: Storage, store_id: string, count: number): Promise<void> {
  const times = { created_at: 0, updated_at: 0 };
  const ids = Array.from({ length: Math.ceil(count / 3) }, newId);
  await insertMany(
    storage,
    "integrations",
    ids.map((id, at) => ({
      id,
      store_id,
      name: "n",
      description: "",
      enabled: 1,
      observes: "[]",
      url: "u",
      format: "cloudevents",
      sealed_secret: "s",
      sequence: at,
      due_at: at % 10 === 0 ? at : null,
      failing_since: at % 20 === 0 ? at : null,
      lease_until: at,
      is_slow: at % 2,
      ...times,
    })),
  );
  const statuses = ["waiting", "delivered", "failed"];
  await insertMany(
    storage,
    "integration_deliveries",
    Array.from({ length: count * 3 }, (_, at) => ({
      id: newId(),
      store_id,
      integration_id: ids[at % 2 === 0 ? 0 : at % ids.length] as string,
      sequence: at + 1,
      event_id: newId(),
      type: `customer.${at % 10}`,
      subject: newId(),
      status: statuses[at % 3] as string,
      tries: 0,
      attempts: "[]",
      next_attempt_at: at % 6 === 0 ? at : null,
      forget_at: at,
      ...times,
    })),
  );
  const deleted = ids.map(() => ({ id: newId(), store_id }));
  await insertMany(storage, "deleted_integrations", deleted);
}

const AT_ONCE = 500;

async function insertMany<T extends keyof Tables>(
  { db }: Storage,
  table: T,
  rows: readonly Insertable<Tables[T]>[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += AT_ONCE)
    await db
      .insertInto(table)
      .values(rows.slice(from, from + AT_ONCE))
      .execute();
}
