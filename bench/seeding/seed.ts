import type { Made } from "../../e2e/running.ts";
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
  type Place,
  signOnRow,
  storeRows,
  tokenRow,
} from "./rows.ts";

/** How many of each. Customers, sign-ons, tokens and keys are all in the first store; the others have a key each. */
export type Counts = { customers: number; signOns: number; tokens: number; keys: number; stores: number };

type Seeded = Made & { profileId: string; samples: Samples };

/** Some of what was made, evenly over all of it, for asking about. */
export type Samples = {
  customers: { id: string; name: string; email: string }[];
  signOns: { id: string; reference: string }[];
  keys: string[];
  /** Whom the benchmark's identity provider knows as `seeded-…`. */
  people: string[];
};

type Options = {
  databaseUrl: string;
  counts: Counts;
  /** With it, the store gets an identity provider at `issuer`, whose identities the customers are. */
  masterKey?: string | undefined;
  issuer?: string;
  onProgress?(table: string, rows: number): void;
};

const BATCH = 10_000;
const SAMPLES = 50;

export const rowsOf = ({ customers, signOns, tokens, keys, stores }: Counts): number =>
  2 * customers + signOns + tokens + 2 * keys + 5 * stores;

/** Fills a new database. One that holds anything is left alone. */
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
  const place: Place = { storeId, realmId, profileId: idAt(now), issuer, now };
  if (masterKey !== undefined) await insertProfile(deps, place, masterKey);
  const keys = await insertKeys(deps, place, counts.keys);
  const customers = await insertCustomers(deps, place, counts.customers);
  const customerOf = ({ index }: Nth) => {
    const of = index % counts.customers;
    return { id: customers.ids[of] as string, index: of };
  };
  await inBatches(counts.tokens, (some) =>
    deps.insert(
      "customer_tokens",
      some.map((nth) => tokenRow(place, customerOf(nth), nth)),
    ),
  );
  const signOns = createSamples<Samples["signOns"][number]>(counts.signOns);
  await inBatches(counts.signOns, (some) => {
    const rows = some.map((nth) => signOnRow(place, customerOf(nth).id, nth));
    for (const [at, { id, reference }] of rows.entries()) signOns.offer(some[at] as Nth, { id, reference });
    return deps.insert("sign_ons", rows);
  });
  await bulk.finish();
  return {
    store: { id: storeId },
    application_key: keys.first,
    profileId: place.profileId,
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

async function insertStores({ insert }: Deps, now: number, count: number) {
  const first = storeRows(now, { index: 0, of: 1 });
  await inBatches(count, async (some) => {
    const made = some.map((nth) => (nth.index === 0 ? first : storeRows(now, nth)));
    await insert(
      "stores",
      made.map(({ store }) => store),
    );
    await insert(
      "authentication_realms",
      made.map(({ realm }) => realm),
    );
    await insert(
      "customer_authentication_settings",
      made.map(({ settings }) => settings),
    );
    const others = made.filter((store) => store !== first);
    const keys = others.map(({ storeId }) => keyRows(storeId, now, { index: 0, of: 1 }));
    await insert(
      "application_keys",
      keys.map(({ key }) => key),
    );
    await insert(
      "application_key_secrets",
      keys.map(({ secret }) => secret),
    );
  });
  return first;
}

async function insertProfile({ insert }: Deps, place: Place, masterKey: string): Promise<void> {
  const { profileId, issuer, now } = place;
  const keyring = createKeyring([Buffer.from(masterKey, "base64url")]);
  await insert("oidc_profiles", [
    {
      id: profileId,
      store_id: place.storeId,
      realm_id: place.realmId,
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

async function insertKeys({ insert }: Deps, { storeId, now }: Place, count: number) {
  let first: Made["application_key"] | undefined;
  const samples = createSamples<string>(count);
  await inBatches(count, async (some) => {
    const all = some.map((nth) => keyRows(storeId, now, nth));
    first ??= all[0]?.made;
    for (const [at, { made }] of all.entries()) samples.offer(some[at] as Nth, made.id);
    await insert(
      "application_keys",
      all.map(({ key }) => key),
    );
    await insert(
      "application_key_secrets",
      all.map(({ secret }) => secret),
    );
  });
  return { first: first as Made["application_key"], some: samples.kept };
}

async function insertCustomers({ insert }: Deps, place: Place, count: number) {
  const ids: string[] = [];
  const samples = createSamples<Samples["customers"][number]>(count);
  const people = createSamples<string>(count);
  await inBatches(count, async (some) => {
    const rows = some.map((nth) => customerRow(place, nth));
    for (const [at, { id, name, email }] of rows.entries()) {
      ids.push(id);
      samples.offer(some[at] as Nth, { id, name, email });
      people.offer(some[at] as Nth, `seeded-${some[at]?.index}`);
    }
    await insert("customers", rows);
    await insert(
      "customer_identities",
      some.map((nth) => identityRow(place, ids[nth.index] as string, nth)),
    );
  });
  return { ids, some: samples.kept, people: people.kept };
}

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
