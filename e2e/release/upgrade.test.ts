import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { steadyClock } from "../../packages/server/src/lib/clock.ts";
import { migrate, migrations } from "../../packages/server/src/storage/migrate.ts";
import type { Migration } from "../../packages/server/src/storage/migration.ts";
import { openStorage } from "../../packages/server/src/storage/open.ts";
import { LATCHKEY, latchkey } from "../../packages/server/test/support/command.ts";
import {
  bothEngines,
  postgresEngine,
  type TestDatabase,
} from "../../packages/server/test/support/engines.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "../support/running.ts";
import { hasReleaseBefore, type ReleaseBefore, unpackReleaseBefore } from "./release-before.ts";

/** Expand, then contract: the previous release continues, and restarts, on the current tables. */

let previous: ReleaseBefore | undefined;
let place: Place | undefined;
let database: TestDatabase | undefined;
const running: Running[] = [];

beforeAll(() => {
  if (hasReleaseBefore) previous = unpackReleaseBefore();
});
afterAll(() => previous?.remove());

afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  for (const { exited } of running.splice(0)) await exited;
  place?.leave();
  await database?.drop();
  place = undefined;
  database = undefined;
});

async function start(at: Place, program = LATCHKEY): Promise<Running> {
  const started = await serve(at, ["serve"], "pipe", { program });
  running.push(started);
  return started;
}

async function stop(service: Running): Promise<void> {
  service.child.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}

async function send(url: string, token: string, method: string, path: string, data?: object) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(data && { body: JSON.stringify({ data }) }),
  });
  const text = await answer.text();
  return { status: answer.status, data: text === "" ? undefined : JSON.parse(text).data };
}

const ADA = { name: "Ada", email: "ada@shop.example", password: "correct horse" };

/** The requests of a back office and a storefront, begun at one instance and continued at another. */
async function work(
  there: string,
  here: string,
  made: Awaited<ReturnType<typeof createStore>>,
): Promise<void> {
  const token = await getToken(there, made);
  const key = await send(there, token, "POST", "/v2/application-keys", {
    type: "application_key",
    name: "Till",
  });
  expect(key.status).toBe(201);
  const path = `/v2/application-keys/${key.data.id}`;
  const renamed = { type: "application_key", name: "Renamed", reserved_rate_limit: 5 };
  expect((await send(here, token, "PUT", path, renamed)).status).toBe(200);
  expect((await send(there, token, "GET", path)).data.name).toBe("Renamed");
  const reservedAt = async (url: string) =>
    (await send(url, token, "GET", "/v2/store")).data.meta.total_reserved_rate_limit;
  expect([await reservedAt(there), await reservedAt(here)]).toEqual([5, 5]);
  const rotated = await send(there, token, "POST", `${path}/rotate`, { type: "application_key" });
  const ofKey = {
    store: made.store,
    application_key: { ...key.data, client_secret: rotated.data.client_secret },
  };
  const ofTill = await getToken(here, ofKey);
  const statusOf = async (url: string) => (await send(url, ofTill, "GET", "/v2/store")).status;
  expect([await statusOf(there), await statusOf(here)]).toEqual([200, 200]);
  expect((await send(here, token, "DELETE", path)).status).toBe(204);
  for (const url of [there, here]) await until(async () => (await statusOf(url)) === 401);
  expect([await reservedAt(there), await reservedAt(here)]).toEqual([0, 0]);

  const customer = await send(there, token, "POST", "/v2/customers", { type: "customer", ...ADA });
  expect(customer.status).toBe(201);
  const signedIn = await send(here, token, "POST", "/v2/customers/tokens", {
    type: "token",
    authentication_mechanism: "password",
    email: ADA.email,
    password: ADA.password,
  });
  expect(signedIn.status).toBe(200);
  const tokens = await send(there, token, "GET", `/v2/customers/${customer.data.id}/tokens`);
  expect(tokens.data).toHaveLength(1);
  expect((await send(here, token, "DELETE", `/v2/customers/${customer.data.id}`)).status).toBe(204);
}

describe.skipIf(!hasReleaseBefore)("the previous release", () => {
  test.skipIf(!postgresEngine.isHere)(
    "serves beside the current release on PostgreSQL: each sees the other's changes (T52)",
    async () => {
      database = await postgresEngine.create();
      place = await newPlace(database.url);
      const env = { ...place.env, LATCHKEY_PUBLIC_URL: place.url };
      const port = await freePort();
      const old: Place = { ...place, env: { ...env, PORT: String(port) }, url: `http://localhost:${port}` };
      const today = await start({ ...place, env });
      const before = await start(old, previous?.program);
      const made = await createStore(place, "--rate-limit", "1000");
      await work(before.url, today.url, made);
      await work(today.url, before.url, made);
      await stop(before);
      await work(today.url, (await start(old, previous?.program)).url, made);
    },
  );

  test("restarts on a SQLite file that the current release has served, and the other way round", async () => {
    place = await newPlace();
    await stop(await start(place));
    const made = await createStore(place, "--rate-limit", "1000");
    const before = await start(place, previous?.program);
    await work(before.url, before.url, made);
    await stop(before);
    const today = await start(place);
    await work(today.url, today.url, made);
  });
});

describe.each(bothEngines)("the current release on $name", (engine) => {
  const clock = steadyClock();
  const next: Migration = {
    version: 9001,
    name: "of the next release",
    async up(trx) {
      await trx.schema.alterTable("stores").addColumn("motto", "text").execute();
      await trx.schema.createTable("mottos").addColumn("id", "text").execute();
    },
  };
  const contract: Migration = {
    version: 9002,
    name: "no more reservations",
    needsVersion: 9001,
    up: (trx) => trx.schema.alterTable("application_keys").dropColumn("last_used_at").execute(),
  };

  async function migrateTo(known: Migration[]): Promise<void> {
    database = await engine.create();
    place = await newPlace(database.url);
    const storage = await openStorage({ clock }, database.url);
    await migrate({ storage, clock }, known);
    await storage.close();
  }

  test.skipIf(!engine.isHere)(
    "starts and serves on tables with the additions of the next release",
    async () => {
      await migrateTo([...migrations, next]);
      const { url } = await start(place as Place);
      await work(url, url, await createStore(place as Place, "--rate-limit", "1000"));
    },
  );

  test.skipIf(!engine.isHere)(
    "does not start on tables that a later release has reduced, and explains why",
    async () => {
      await migrateTo([...migrations, next, contract]);
      const { code, stderr } = await latchkey(["serve"], (place as Place).env);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining("too old for the database: migration 9002 (no more reservations)"),
      ]);
      expect(stderr).not.toContain("    at ");
    },
  );
});
