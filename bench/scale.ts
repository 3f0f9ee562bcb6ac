import { readFileSync, writeFileSync } from "node:fs";
import { markdownTable, pageUrl, pageWith } from "./report/page.ts";
import { latchkeyIn, type Results } from "./report/results.ts";
import * as words from "./report/words.ts";
import type { LimiterFigures } from "./simulate-limiter.ts";
import type { Engine } from "./workloads/workload.ts";

/**
 * Makes the tables of docs/scale.md and the sizing table of docs/several-instances.md from the files of bench/results. `npm
 * run scale` writes the pages; a test fails when a page differs.
 */
export type Costs = Record<Engine, Record<string, Cost>>;
/** The cost of one request at the database: `turns` are round trips, `logBytes` the growth of the write-ahead log. */
export type Cost = {
  statements: number;
  turns?: number;
  toServer?: number;
  fromServer?: number;
  logBytes: number;
};
type Sizes = Record<string, { rows: number; rowBytes: number; indexBytes: number }>;

const load = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`results/${name}.json`, import.meta.url), "utf8"));

type Found = { costs: Costs; sizes: Sizes; results: Results; limiter: LimiterFigures };

const count = (value: number): string => Math.round(value).toLocaleString("en");
const few = (value: number): string => (value >= 100 ? count(value) : String(Number(value.toPrecision(2))));
const giga = (bytes: number): string => `${few(bytes / 1e9)} GB`;

/** The counted requests of a whole sign-on. */
const partsOf = (redeem: string): string[] => [
  "authorize",
  "callback",
  redeem,
  "records of a sign-on, written later",
];
const WHOLE: Record<string, string[]> = {
  "sign-on, new shopper": partsOf("redeem, new shopper"),
  "sign-on, known shopper": partsOf("redeem, known shopper"),
};

function sum(costs: Record<string, Cost>, names: readonly string[]): Required<Cost> {
  const total = { statements: 0, turns: 0, toServer: 0, fromServer: 0, logBytes: 0 };
  for (const name of names) {
    const cost = costs[name];
    if (!cost) throw new Error(`${name} was not counted`);
    for (const member of Object.keys(total) as (keyof Cost)[]) total[member] += cost[member] ?? 0;
  }
  return total;
}

const withWhole = (costs: Record<string, Cost>): [string, Cost][] => [
  ...Object.entries(costs),
  ...Object.entries(WHOLE).map(([name, parts]): [string, Cost] => [`**a whole ${name}**`, sum(costs, parts)]),
];

const onPostgres = ({ costs }: Found): string =>
  markdownTable(
    ["request", "statements", "round trips", "bytes to PostgreSQL", "bytes from it", "bytes of its log"],
    withWhole(costs.postgres).map(([name, cost]) => [
      name,
      few(cost.statements),
      few(cost.turns ?? 0),
      count(cost.toServer ?? 0),
      count(cost.fromServer ?? 0),
      count(cost.logBytes),
    ]),
  );

const onSqlite = ({ costs }: Found): string =>
  markdownTable(
    ["request", "statements", "bytes of its log"],
    withWhole(costs.sqlite).map(([name, cost]) => [name, few(cost.statements), count(cost.logBytes)]),
  );

const SHOWN = [
  "read settings",
  "read provider list",
  "read key",
  "read own customer",
  "access token",
  "PUT key",
  ...Object.keys(WHOLE),
  "e-mail and password",
];

function usesOf({ results }: Found, workload: string, engine: Engine) {
  const found = results.comparisons.find((one) => one.workload === workload && one.engine === engine);
  if (!found) throw new Error(`${workload} was not measured on ${engine}`);
  const { cpuUs, databaseUs, halfLoad } = latchkeyIn(found);
  return { cpuUs: cpuUs.median, databaseUs: databaseUs?.median ?? 0, p50Us: halfLoad.p50Us };
}

/** The planned load of a core: requests wait in a queue when the load is much higher. */
const BUSY = 0.6;

function example(found: Found): string {
  const [signOn, read] = [
    usesOf(found, "sign-on, known shopper", "postgres"),
    usesOf(found, "read key", "postgres"),
  ];
  const cores = (100 * signOn.cpuUs + 2000 * read.cpuUs) / 1e6 / BUSY;
  const databaseCores = (100 * signOn.databaseUs + 2000 * read.databaseUs) / 1e6 / BUSY;
  const memory = found.results.memory?.image ?? found.results.memory?.sources;
  return [
    `Plan with ${BUSY * 100} % of these figures: then a short peak makes no long queue. Example: 100 sign-ons and 2,000 small reads a`,
    `second are ${few(cores)} cores of instances and ${few(databaseCores)} of PostgreSQL. An instance took ${words.megabytes(memory?.idleBytes ?? 0)} before that run's load and ${words.megabytes(memory?.afterLoadBytes ?? 0)} a minute after it.`,
  ].join("\n");
}

const sizing = (found: Found): string =>
  [
    markdownTable(
      [
        "operation",
        "SQLite: a second and core",
        "PostgreSQL: a second and core of an instance",
        "and core of PostgreSQL",
        "p50 at half load",
      ],
      SHOWN.map((workload) => {
        const [small, large] = [usesOf(found, workload, "sqlite"), usesOf(found, workload, "postgres")];
        return [
          workload,
          count(1e6 / small.cpuUs),
          count(1e6 / large.cpuUs),
          count(1e6 / large.databaseUs),
          `${words.time(small.p50Us)}, ${words.time(large.p50Us)}`,
        ];
      }),
    ),
    "",
    example(found),
  ].join("\n");

/** The example: 100,000 requests a second, which include 500 new sign-ons, one in ten by a new shopper. */
const SUPPOSED = {
  stores: 10_000,
  keysOfStore: 10,
  customers: 100e6,
  signOns: 500,
  isNew: 0.1,
  tokenSeconds: 86_400,
  recordDays: 30,
};
const MIX: { name: string; perSecond: number; workload: string }[] = [
  { name: "small reads (as `read key`)", perSecond: 88_000, workload: "read key" },
  { name: "own customer", perSecond: 10_000, workload: "read own customer" },
  { name: "provider list", perSecond: 500, workload: "read provider list" },
  {
    name: "sign-ons, new shoppers",
    perSecond: SUPPOSED.signOns * SUPPOSED.isNew,
    workload: "sign-on, new shopper",
  },
  {
    name: "sign-ons, known shoppers",
    perSecond: SUPPOSED.signOns * (1 - SUPPOSED.isNew),
    workload: "sign-on, known shopper",
  },
];
/** The connections of an instance: a pool of ten, and the connection that listens for changes. */
const CONNECTIONS = 11;
const REQUESTS_OF_SIGN_ON = 3;
const DATABASE_CORES = 16;

function traffic(found: Found): string {
  const rows = MIX.map(({ name, perSecond, workload }) => {
    const requests = workload in WHOLE ? REQUESTS_OF_SIGN_ON : 1;
    const { cpuUs, databaseUs } = usesOf(found, workload, "postgres");
    const cost = sum(found.costs.postgres, WHOLE[workload] ?? [workload]);
    return {
      name,
      values: [
        perSecond,
        perSecond * requests,
        (perSecond * cpuUs) / 1e6,
        (perSecond * databaseUs) / 1e6,
        perSecond * cost.statements,
        (perSecond * (cost.toServer + cost.fromServer)) / 1e6,
        (perSecond * cost.logBytes) / 1e6,
      ],
    };
  });
  const totals = (rows[0]?.values ?? []).map((_, at) =>
    rows.reduce((all, { values }) => all + (values[at] ?? 0), 0),
  );
  const [, requests = 0, cores = 0, databaseCores = 0] = totals;
  const instances = Math.ceil(cores / BUSY);
  const needed = Math.ceil(databaseCores / BUSY);
  const servers = Math.ceil(needed / DATABASE_CORES);
  return [
    markdownTable(
      [
        "what",
        "a second",
        "requests a second",
        "cores of instances",
        "cores of PostgreSQL",
        "statements a second",
        "MB a second on the line",
        "MB a second of log",
      ],
      [...rows, { name: "**together**", values: totals }].map(({ name, values }) => [
        name,
        ...values.map((value, at) => (at < 2 ? count(value) : few(value))),
      ]),
    ),
    "",
    `${count(requests)} requests a second keep ${few(cores)} cores of instances busy and ${few(databaseCores)} of PostgreSQL. At ${BUSY * 100} % load that is`,
    `${cores.toFixed(1)} / ${BUSY} = **${instances} instances** of one core each, with ${instances} × ${CONNECTIONS} = ${instances * CONNECTIONS} connections, and ${databaseCores.toFixed(1)} / ${BUSY} = **${needed} cores of`,
    `PostgreSQL**: ${servers === 1 ? "one server" : `${servers} servers, sharded by store,`} of ${DATABASE_CORES} cores.`,
  ].join("\n");
}

function room({ sizes }: Found): string {
  const { stores, keysOfStore, customers, signOns, tokenSeconds, recordDays } = SUPPOSED;
  const rows: [string, number, string][] = [
    ["customers", customers, "100 million"],
    ["customer_identities", customers, "one each"],
    [
      "customer_tokens",
      signOns * tokenSeconds,
      `${signOns} a second × ${count(tokenSeconds)} seconds that one lives`,
    ],
    [
      "sign_ons",
      signOns * 86_400 * recordDays,
      `${signOns} a second × 86,400 × ${recordDays} days (LATCHKEY_SIGN_ON_RECORD_DAYS)`,
    ],
    ["application_keys", stores * keysOfStore, `${keysOfStore} a store`],
    ["application_key_secrets", stores * keysOfStore, "one each"],
    ["stores", stores, "10,000"],
  ];
  const sized = rows.map(([name, many, why]) => {
    const { rowBytes = 0, indexBytes = 0 } = sizes[name] ?? {};
    return { cells: [name, count(many), why, rowBytes, indexBytes], bytes: many * (rowBytes + indexBytes) };
  });
  const total = sized.reduce((all, { bytes }) => all + bytes, 0);
  return markdownTable(
    ["table", "rows", "because", "bytes a row", "bytes of indexes a row", "together"],
    [...sized.map(({ cells, bytes }) => [...cells, giga(bytes)]), ["**all**", "", "", "", "", giga(total)]],
  );
}

const rowsOf = (rows: Record<string, Record<string, string | number>>, what: string): string =>
  markdownTable(
    [what, ...Object.keys(Object.values(rows)[0] ?? {})],
    Object.entries(rows).map(([name, row]) => [name, ...Object.values(row)]),
  );

const limiter = ({ limiter: { ways, losses } }: Found): string =>
  `${rowsOf(ways, "way of counting")}\n\n${rowsOf(losses, "exact, with")}`;

const PAGES: Record<string, Record<string, (found: Found) => string>> = {
  "docs/scale.md": { "costs on PostgreSQL": onPostgres, "costs on SQLite": onSqlite, traffic, room, limiter },
  "docs/several-instances.md": { sizing },
};

/** The content of each page with tables made from the current figures. */
export function pages(): Record<string, string> {
  const found: Found = {
    costs: load("costs"),
    sizes: load("sizes"),
    results: load("latest"),
    limiter: load("limiter"),
  };
  return Object.fromEntries(
    Object.entries(PAGES).map(([path, parts]) => [
      path,
      pageWith(path, Object.fromEntries(Object.entries(parts).map(([name, make]) => [name, make(found)]))),
    ]),
  );
}

if (import.meta.main) for (const [path, page] of Object.entries(pages())) writeFileSync(pageUrl(path), page);
