import { parseArgs } from "node:util";
import { createProgress } from "./measure/progress.ts";
import { type Counts, rowsOf, seed } from "./seeding/seed.ts";

const USAGE = `npm run bench:seed -- --database <sqlite:path or postgres://…> [--customers 1000000] [--sign-ons 1000000]
                      [--tokens 1000000] [--keys 100000] [--stores 10000] [--issuer <identity provider>]

Fills a new database with the rows of a store in service, by plain inserts, and prints the first store and its first
application key as JSON. If LATCHKEY_MASTER_KEY is set, this store has an identity provider at --issuer.`;

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    customers: { type: "string", default: "1000000" },
    "sign-ons": { type: "string", default: "1000000" },
    tokens: { type: "string", default: "1000000" },
    keys: { type: "string", default: "100000" },
    stores: { type: "string", default: "10000" },
    issuer: { type: "string" },
    help: { type: "boolean" },
  },
});
const whole = (name: string, text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a whole number from 1 on`);
  return Number(text);
};

if (values.help || values.database === undefined) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 1);
}
const counts: Counts = {
  customers: whole("customers", values.customers),
  signOns: whole("sign-ons", values["sign-ons"]),
  tokens: whole("tokens", values.tokens),
  keys: whole("keys", values.keys),
  stores: whole("stores", values.stores),
};
const progress = createProgress(rowsOf(counts));
const { store, application_key } = await seed({
  databaseUrl: values.database,
  counts,
  masterKey: process.env.LATCHKEY_MASTER_KEY,
  ...(values.issuer !== undefined && { issuer: values.issuer }),
  onProgress: (table, rows) => progress.step(table, rows),
});
progress.end();
console.log(JSON.stringify({ store, application_key }));
