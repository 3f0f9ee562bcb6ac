import type { Made } from "../../e2e/support/running.ts";
import { steadyClock } from "../../packages/server/src/lib/clock.ts";
import { createKeyring } from "../../packages/server/src/lib/keyring.ts";
import { seal } from "../../packages/server/src/lib/seal.ts";
import { openStorage } from "../../packages/server/src/storage/open.ts";
import { type Bulk, openBulk } from "./bulk.ts";
import {
  customerRow,
  idAt,
  identityRow,
  keyRows,
  type Nth,
  type SeededStore,
  signOnRow,
  storeRows,
  tokenRow,
} from "./rows.ts";

/** The number of rows. The first store has all customers, sign-ons, tokens and keys; each other store has one key. */
export type Counts = { customers: number; signOns: number; tokens: number; keys: number; stores: number };

type Seeded = Made & { profileId: string; samples: Samples };

/** Some of the seeded rows, at equal distances, for requests about them. */
export type Samples = {
  customers: { id: string; name: string; email: string }[];
  signOns: { id: string; reference: string }[];
  keys: string[];
  /** Names of persons at the benchmark's identity provider: `seeded-…`. */
  people: string[];
};

type Options = {
  databaseUrl: string;
  counts: Counts;
  /**
   * With a master key the store gets a profile of the identity provider at `issuer`, at which all customers have
   * identities.
   */
  masterKey?: string | undefined;
  issuer?: string;
  onProgress?(table: string, rows: number): void;
};

const BATCH = 10_000;
const SAMPLES = 50;

export const rowsOf = ({ customers, signOns, tokens, keys, stores }: Counts): number =>
  2 * customers + signOns + tokens + 2 * keys + 5 * stores;

/** Fills a new database. Throws if the database has stores. */
export async function seed(options: Options): Promise<Seeded> {
  const { databaseUrl, counts, masterKey, issuer = "https://login.example", onProgress } = options;
  await refuseFilled(databaseUrl);
  const bulk = await openBulk(databaseUrl);
  const deps: Deps = {
    async insert(table, rows) {
      if (rows.length > 0) await bulk.insert(table, rows);
      onProgress?.(table, rows.length);
    },
  };
  const now = Date.now();
  const { storeId, realmId } = await insertStores(deps, now, counts.stores);
  const store: SeededStore = { storeId, realmId, profileId: idAt(now), issuer, now };
  if (masterKey !== undefined) await insertProfile(deps, store, masterKey);
  const keys = await insertKeys(deps, store, counts.keys);
  const customers = await insertCustomers(deps, store, counts.customers);
  const customerOf = ({ index }: Nth) => {
    const of = index % counts.customers;
    return { id: customers.ids[of] as string, index: of };
  };
  await inBatches(counts.tokens, (some) =>
    deps.insert(
      "customer_tokens",
      some.map((nth) => tokenRow(store, customerOf(nth), nth)),
    ),
  );
  const signOns = createSamples<Samples["signOns"][number]>(counts.signOns);
  await inBatches(counts.signOns, (some) => {
    const rows = some.map((nth) => signOnRow(store, customerOf(nth).id, nth));
    for (const [at, { id, reference }] of rows.entries()) signOns.offer(some[at] as Nth, { id, reference });
    return deps.insert("sign_ons", rows);
  });
  await bulk.finish();
  return {
    store: { id: storeId },
    application_key: keys.first,
    profileId: store.profileId,
    samples: { customers: customers.some, people: customers.people, signOns: signOns.kept, keys: keys.some },
  };
}

async function refuseFilled(databaseUrl: string): Promise<void> {
  const storage = await openStorage({ clock: steadyClock() }, databaseUrl);
  const found = await storage.db.selectFrom("stores").select("id").limit(1).executeTakeFirst();
  await storage.close();
  if (found) throw new Error("there are stores in this database already; seeding needs a new one");
}

type Deps = Pick<Bulk, "insert">;

/** Inserts rows of several tables, in the order of the members. */
async function insertAll({ insert }: Deps, tables: Record<string, readonly object[]>): Promise<void> {
  for (const [table, rows] of Object.entries(tables)) await insert(table, rows);
}

const keyTables = (made: readonly ReturnType<typeof keyRows>[]) => ({
  application_keys: made.map(({ key }) => key),
  application_key_secrets: made.map(({ secret }) => secret),
});

async function insertStores(deps: Deps, now: number, count: number) {
  const first = storeRows(now, { index: 0, of: 1 });
  await inBatches(count, async (some) => {
    const made = some.map((nth) => (nth.index === 0 ? first : storeRows(now, nth)));
    const others = made.filter((store) => store !== first);
    await insertAll(deps, {
      stores: made.map(({ store }) => store),
      authentication_realms: made.map(({ realm }) => realm),
      customer_authentication_settings: made.map(({ settings }) => settings),
      ...keyTables(others.map(({ storeId }) => keyRows(storeId, now, { index: 0, of: 1 }))),
    });
  });
  return first;
}

async function insertProfile({ insert }: Deps, store: SeededStore, masterKey: string): Promise<void> {
  const { profileId, issuer, now } = store;
  const keyring = createKeyring([Buffer.from(masterKey, "base64url")]);
  await insert("oidc_profiles", [
    {
      id: profileId,
      store_id: store.storeId,
      realm_id: store.realmId,
      name: "Bench",
      discovery_url: `${issuer}/.well-known/openid-configuration`,
      client_id: "the-store",
      sealed_client_secret: seal(keyring, "client-secret", profileId, "a secret"),
      enabled: 1,
      flow: "brokered",
      provisioning: "create",
      created_at: now,
      updated_at: now,
    },
  ]);
}

async function insertKeys(deps: Deps, { storeId, now }: SeededStore, count: number) {
  let first: Made["application_key"] | undefined;
  const samples = createSamples<string>(count);
  await inBatches(count, async (some) => {
    const all = some.map((nth) => keyRows(storeId, now, nth));
    first ??= all[0]?.made;
    for (const [at, { made }] of all.entries()) samples.offer(some[at] as Nth, made.id);
    await insertAll(deps, keyTables(all));
  });
  return { first: first as Made["application_key"], some: samples.kept };
}

async function insertCustomers(deps: Deps, store: SeededStore, count: number) {
  const ids: string[] = [];
  const samples = createSamples<Samples["customers"][number]>(count);
  const people = createSamples<string>(count);
  await inBatches(count, async (some) => {
    const customers = some.map((nth) => customerRow(store, nth));
    for (const [at, { id, name, email }] of customers.entries()) {
      const nth = some[at] as Nth;
      ids.push(id);
      samples.offer(nth, { id, name, email });
      people.offer(nth, `seeded-${nth.index}`);
    }
    const customer_identities = some.map((nth) => identityRow(store, ids[nth.index] as string, nth));
    await insertAll(deps, { customers, customer_identities });
  });
  return { ids, some: samples.kept, people: people.kept };
}

/** Keeps up to SAMPLES of the offered values, at equal distances. */
function createSamples<T>(of: number) {
  const every = Math.max(1, Math.floor(of / SAMPLES));
  const kept: T[] = [];
  const offer = ({ index }: Nth, sample: T) => {
    if (index % every === 0 && kept.length < SAMPLES) kept.push(sample);
  };
  return { kept, offer };
}

async function inBatches(of: number, work: (some: Nth[]) => Promise<void>): Promise<void> {
  for (let from = 0; from < of; from += BATCH)
    await work(Array.from({ length: Math.min(BATCH, of - from) }, (_, at) => ({ index: from + at, of })));
}
