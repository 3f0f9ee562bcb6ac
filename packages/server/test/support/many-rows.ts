import { sql } from "kysely";
import type { Storage } from "../../src/storage/storage.ts";

/** PostgreSQL has a limit of a second for a statement. */
const CHUNK = { sqlite: 50_000, postgres: 500 };

type Crowd = {
  storeId: string;
  count: number;
  /** The expiry of their tokens, sign-ons and answers. */
  overAt: number;
  /** These tables alone. */
  tables?: readonly string[];
};

/**
 * Customers, each with an identity, a customer token, a sign-on and its attempt: created by the database, many at a
 * time.
 */
export async function insertCrowd(
  storage: Storage,
  { storeId, count, overAt, tables }: Crowd,
): Promise<void> {
  const chunk = CHUNK[storage.engine];
  for (let from = 0; from < count; from += chunk) {
    const to = Math.min(count, from + chunk);
    for (const [table, columns] of Object.entries(rowsOf(storeId, overAt))) {
      if (tables && !tables.includes(table)) continue;
      const values = Object.values(columns).map((value) => sql.raw(value));
      await sql`
        insert into ${sql.table(table)} (${sql.join(Object.keys(columns).map((name) => sql.ref(name)))})
        with recursive numbers (i) as (
          select cast(${from} as bigint) union all select i + 1 from numbers where i + 1 < ${to}
        )
        select ${sql.join(values)} from numbers`.execute(storage.db);
    }
  }
}

/** A log of so many events of before 1971, created by the database. */
export async function insertEvents(storage: Storage, storeId: string, count: number): Promise<void> {
  const chunk = CHUNK[storage.engine];
  for (let from = 0; from < count; from += chunk)
    await sql`
      insert into events (store_id, sequence, id, type, subject, source, time, latest_time, digest, previous_hash, hash, data)
      with recursive numbers (i) as (
        select cast(${from} as bigint) union all select i + 1 from numbers where i + 1 < ${Math.min(count, from + chunk)}
      )
      select ${storeId}, i + 1, 'event ' || i, 'customer.updated', 'customer ' || i, 's', 1, 1, 'd', 'p', 'h', '{}' from numbers`.execute(
      storage.db,
    );
  const head = {
    last_sequence: count,
    last_hash: "h",
    latest_time: 1,
    first_sequence: 1,
    forgotten_hash: "",
  };
  await storage.db
    .insertInto("event_heads")
    .values({ store_id: storeId, ...head, oldest_time: 1 })
    .onConflict((conflict) => conflict.column("store_id").doUpdateSet({ ...head, oldest_time: 1 }))
    .execute();
}

function rowsOf(storeId: string, overAt: number): Record<string, Record<string, string>> {
  const store_id = `'${storeId}'`;
  const id = (kind: string) =>
    `'${storeId.slice(0, 24)}${kind.repeat(4)}' || substr('00000000' || i, length('' || i) + 1, 8)`;
  const at = `cast(${overAt} as bigint)`;
  return {
    customers: {
      id: id("c"),
      store_id,
      name: "'Somebody ' || i",
      email: "'somebody' || i || '@shop.example'",
      email_key: "'somebody' || i || '@shop.example'",
      email_verified: "1",
      authentication_mechanism: "'oidc'",
      created_at: at,
      updated_at: at,
    },
    customer_identities: {
      id: id("1"),
      store_id,
      realm_id: "'01890000-0000-7000-8000-00000000000a'",
      profile_id: "'01890000-0000-7000-8000-00000000000b'",
      issuer: "'https://idp.example'",
      client_id: "'client'",
      subject: "'subject-' || i",
      customer_id: id("c"),
      created_at: at,
    },
    customer_tokens: {
      id: id("7"),
      store_id,
      customer_id: id("c"),
      mechanism: "'oidc'",
      profile_id: "'01890000-0000-7000-8000-00000000000b'",
      profile_name: "'Practice'",
      subject: "'subject-' || i",
      created_at: `${at} - 1`,
      expires_at: at,
    },
    sign_ons: {
      id: id("5"),
      store_id,
      realm_id: "'01890000-0000-7000-8000-00000000000a'",
      profile_id: "'01890000-0000-7000-8000-00000000000b'",
      profile_name: "'Practice'",
      reference: "'R' || i",
      outcome: "'exchanged'",
      checks: "'[]'",
      timings: "'{}'",
      customer_id: id("c"),
      started_at: `${at} - (i % 1000)`,
      updated_at: at,
    },
    sign_on_attempts: {
      id: id("a"),
      store_id,
      realm_id: "'01890000-0000-7000-8000-00000000000a'",
      profile_id: "'01890000-0000-7000-8000-00000000000b'",
      state: "'code_issued'",
      client_id: "'customers'",
      client_redirect_uri: "'https://shop.example'",
      code_hash: id("b"),
      code_expires_at: at,
      identity: "'{}'",
      subject: "'subject-' || i",
      forget_at: at,
    },
  };
}
