import { readFileSync, statSync, writeFileSync } from "node:fs";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, test } from "vitest";
import type { Cost, Costs } from "../../../bench/scale.ts";
import { issueAccessToken } from "../src/contract/access-tokens.ts";
import { getApplicationKey, updateApplicationKey } from "../src/contract/application-keys.ts";
import { createCustomer, getCustomer } from "../src/contract/customers.ts";
import { listProfiles } from "../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../src/contract/realms.ts";
import { call } from "./support/call.ts";
import { type Carried, startCountingProxy } from "./support/counting-proxy.ts";
import { sqliteEngine } from "./support/engines.ts";
import { createFederation, type Federation } from "./support/federation.ts";
import { startPostgres } from "./support/postgres-server.ts";
import { findProgram } from "./support/programs.ts";
import { watchDatabase } from "./support/statements.ts";

/**
 * Counts the database work of each kind of request: statements, bytes on the connection, bytes in the write-ahead log.
 * The figures are in bench/results/costs.json, and docs/scale.md shows them; `npm run costs` writes both.
 */
const FILE = new URL("../../../bench/results/costs.json", import.meta.url);
const isWriting = process.env.LATCHKEY_WRITE_COSTS !== undefined;

const ROUNDS = 5;
/** Records are written once a second, many at a time. */
const SIGN_ONS_AT_ONCE = 50;

type Meter = {
  begin(): Promise<void>;
  /** Bytes in the database's write-ahead log since the last call. */
  end(): Promise<number>;
  carried?(): Carried;
};

/** A kind of request: its preparation and the request itself; `per`: how many requests the call makes. */
type Kind = {
  prepare?(): Promise<unknown>;
  ask(prepared: never): Promise<{ status: number } | undefined>;
  per?: number;
};

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

const rounded = (value: number) => Math.round(value * 100) / 100;

const NOTHING: Carried = { turns: 0, toServer: 0, fromServer: 0 };

async function measure(f: Federation, meter: Meter): Promise<Record<string, Cost>> {
  const { storage } = f.latchkey;
  const whole = storage.db;
  let statements = 0;
  storage.db = watchDatabase(whole, () => {
    statements++;
  });
  const costs: Record<string, Cost> = {};
  for (const [name, { prepare, ask, per = 1 }] of Object.entries(kindsOf(f))) {
    const rounds: Required<Cost>[] = [];
    for (let round = 0; round < (per > 1 ? 3 : ROUNDS); round++) {
      const prepared = await prepare?.();
      await meter.begin();
      const before = meter.carried?.() ?? NOTHING;
      statements = 0;
      const answer = await ask(prepared as never);
      const after = meter.carried?.() ?? NOTHING;
      expect(answer?.status ?? 200, name).toBeLessThan(400);
      // No request of these counts is refused by a limit.
      f.latchkey.clock.advance(1000);
      rounds.push({
        statements: statements / per,
        turns: (after.turns - before.turns) / per,
        toServer: (after.toServer - before.toServer) / per,
        fromServer: (after.fromServer - before.fromServer) / per,
        logBytes: (await meter.end()) / per,
      });
    }
    // The minimum, because a cache is sometimes read again in between; the log's size depends on how full pages are.
    const least = (member: keyof Cost) => rounded(Math.min(...rounds.map((round) => round[member])));
    const line = { turns: least("turns"), toServer: least("toServer"), fromServer: least("fromServer") };
    const logBytes = rounded(median(rounds.map((round) => round.logBytes)));
    costs[name] = { statements: least("statements"), ...(meter.carried && line), logBytes };
  }
  storage.db = whole;
  return costs;
}

function kindsOf(f: Federation): Record<string, Kind> {
  const { app } = f.latchkey;
  const { key } = f.store;
  const settings = (token: string) => call(app, getAuthenticationSettings, { token });
  const form = { grant_type: "client_credentials", client_id: key.clientId, client_secret: key.clientSecret };
  let count = 0;
  const somebody = (sub: string) => {
    f.idp.hooks.claims = (claims) => ({ ...claims, sub, email: `${sub}@shop.example` });
    f.latchkey.clock.advance(100);
    return f.signOn();
  };
  const password = {
    authentication_mechanism: "password",
    email: "pass@shop.example",
    password: "a long password",
  };
  const noCode = {
    oauth_authorization_code: undefined,
    oauth_redirect_uri: undefined,
    oauth_code_verifier: undefined,
  };
  const token = f.implicit;
  return {
    "read settings, token known": { ask: () => settings(token) },
    "read settings, token new here": {
      prepare: () => f.store.token("implicit"),
      ask: (fresh: string) => settings(fresh),
    },
    "read provider list": { ask: () => call(app, listProfiles, { token, ids: { realm: f.realmId } }) },
    "read key": { ask: () => f.store.call(getApplicationKey, { ids: { id: f.store.key.id } }) },
    "read own customer": {
      prepare: async () => (await f.redeem(await somebody("known"))).body.data,
      ask: (own: { customer_id: string; token: string }) =>
        call(app, getCustomer, {
          token,
          ids: { id: own.customer_id },
          headers: { "x-customer-token": own.token },
        }),
    },
    "access token": { ask: () => call(app, issueAccessToken, { form }) },
    "PUT key": {
      ask: () =>
        f.store.call(updateApplicationKey, {
          ids: { id: key.id },
          json: { data: { type: "application_key", name: `Key ${count++}`, reserved_rate_limit: count % 2 } },
        }),
    },
    authorize: { ask: () => f.begin({ cookie: undefined }) },
    callback: {
      async prepare() {
        const browser = { cookie: undefined };
        const begun = await f.begin(browser);
        return { browser, back: f.idp.signIn(begun.headers.get("location") ?? "") };
      },
      ask: ({ browser, back }: { browser: { cookie: undefined }; back: string }) => f.comeBack(browser, back),
    },
    "redeem, new shopper": {
      prepare: () => somebody(`new-${count++}`),
      ask: (signedOn: Awaited<ReturnType<Federation["signOn"]>>) => f.redeem(signedOn),
    },
    "redeem, known shopper": {
      prepare: () => somebody("known"),
      ask: (signedOn: Awaited<ReturnType<Federation["signOn"]>>) => f.redeem(signedOn),
    },
    "records of a sign-on, written later": {
      async prepare() {
        await f.latchkey.app.tidy();
        for (let i = 0; i < SIGN_ONS_AT_ONCE; i++) await f.redeem(await somebody("known"));
      },
      async ask() {
        await f.latchkey.app.tidy();
        return undefined;
      },
      per: SIGN_ONS_AT_ONCE,
    },
    "e-mail and password": {
      ask: () => f.redeem({ code: "", pkce: { verifier: "", challenge: "" } }, { ...password, ...noCode }),
    },
  };
}

/** Everything runs once before it is counted: the first run fills caches. */
async function warm(f: Federation): Promise<void> {
  const json = {
    data: { type: "customer", name: "Pass", email: "pass@shop.example", password: "a long password" },
  };
  expect((await f.store.call(createCustomer, { json })).status).toBe(201);
  for (const { prepare, ask } of Object.values(kindsOf(f))) await ask((await prepare?.()) as never);
}

function expectKept(engine: keyof Costs, found: Record<string, Cost>): void {
  const kept: Partial<Costs> = JSON.parse(readFileSync(FILE, "utf8"));
  if (isWriting) {
    writeFileSync(FILE, `${JSON.stringify({ ...kept, [engine]: found }, null, 2)}\n`);
    return;
  }
  const all = kept[engine] ?? {};
  expect(Object.keys(found)).toEqual(Object.keys(all));
  for (const [name, cost] of Object.entries(found)) {
    const { statements, turns, toServer = 0, fromServer = 0, logBytes } = all[name] as Cost;
    const what = "run `npm run costs` if it is meant to be so";
    expect([name, cost.statements, cost.turns], what).toEqual([name, statements, turns]);
    expectNear(`${name}: bytes to the server`, cost.toServer ?? 0, toServer, 0.1);
    expectNear(`${name}: bytes from the server`, cost.fromServer ?? 0, fromServer, 0.1);
    expectNear(`${name}: log`, cost.logBytes, logBytes, 0.35);
  }
}

function expectNear(what: string, found: number, wanted: number, part: number): void {
  expect(Math.abs(found - wanted), `${what}: ${found}, and ${wanted} is written`).toBeLessThanOrEqual(
    200 + wanted * part,
  );
}

const binaries = findProgram("postgres");

describe("each kind of request costs the figure of docs/scale.md", () => {
  test("on SQLite", async () => {
    const database = await sqliteEngine.create();
    const path = database.url.slice("sqlite:".length);
    const f = await createFederation({ databaseUrl: database.url });
    const { db } = f.latchkey.storage;
    await warm(f);
    const found = await measure(f, {
      // On its own connection: a write of another connection would look like another program's change.
      begin: async () => void (await sql`pragma wal_checkpoint(truncate)`.execute(db)),
      end: async () => statSync(`${path}-wal`).size,
    });
    await f.close();
    await database.drop();
    expectKept("sqlite", found);
  });

  test.skipIf(!binaries)("on PostgreSQL", async () => {
    // A server of its own, because other tests would write to its log as well.
    const server = await startPostgres(binaries as string, { autovacuum: "off", full_page_writes: "off" });
    const direct = new URL(server.url);
    // The listening connection is not counted: each instance has one, whatever the number of requests.
    const proxy = await startCountingProxy(Number(direct.port), (piece) =>
      piece.includes("listen latchkey_changes"),
    );
    const through = new URL(server.url);
    through.port = String(proxy.port);
    const beside = new pg.Client({ connectionString: server.url });
    await beside.connect();
    const logPosition = async () => {
      const { rows } = await beside.query("select (pg_current_wal_insert_lsn() - '0/0')::float8 as at");
      return rows[0].at as number;
    };
    const f = await createFederation({ databaseUrl: through.href });
    await warm(f);
    let from = 0;
    const found = await measure(f, {
      begin: async () => {
        from = await logPosition();
      },
      end: async () => (await logPosition()) - from,
      carried: proxy.carried,
    });
    await f.close();
    await beside.end();
    await proxy.close();
    await server.remove();
    expectKept("postgres", found);
  });
});
