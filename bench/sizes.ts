import { writeFileSync } from "node:fs";
import pg from "pg";
import { seed } from "./seeding/seed.ts";
import { openDatabases } from "./servers/databases.ts";

/**
 * Bytes per row of each table and of its indexes: PostgreSQL's figures for a seeded table, divided by the number of
 * rows. `npm run bench:sizes` writes bench/results/sizes.json.
 */
const COUNTS = { customers: 200_000, signOns: 200_000, tokens: 200_000, keys: 20_000, stores: 10_000 };
const TABLES = [
  "customers",
  "customer_identities",
  "customer_tokens",
  "sign_ons",
  "application_keys",
  "application_key_secrets",
  "stores",
];

const databases = await openDatabases();
try {
  if (!databases.engines.includes("postgres")) throw new Error("PostgreSQL is not installed");
  const databaseUrl = await databases.create("postgres");
  await seed({ databaseUrl, counts: COUNTS });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("vacuum analyze");
  const sizes: Record<string, { rows: number; rowBytes: number; indexBytes: number }> = {};
  for (const table of TABLES) {
    const { rows } = await client.query(
      `select count(*)::float8 as count, pg_table_size('${table}')::float8 as table, pg_indexes_size('${table}')::float8 as indexes from ${table}`,
    );
    const { count, table: own, indexes } = rows[0];
    sizes[table] = {
      rows: count,
      rowBytes: Math.round(own / count),
      indexBytes: Math.round(indexes / count),
    };
  }
  await client.end();
  writeFileSync(new URL("results/sizes.json", import.meta.url), `${JSON.stringify(sizes, null, 2)}\n`);
  console.table(sizes);
} finally {
  await databases.remove();
}
