import { sql } from "kysely";
import { expect, test } from "vitest";
import { createStore } from "../../src/create-store.ts";
import { migrate, migrations } from "../../src/storage/migrate.ts";
import type { Migration } from "../../src/storage/migration.ts";
import { openStorage } from "../../src/storage/open.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { findStore } from "../../src/stores/store.ts";
import { handClock } from "../support/clock.ts";
import { postgresEngine } from "../support/engines.ts";
import { until } from "../support/until.ts";

const next: Migration = {
  version: 9999,
  name: "next",
  up: (trx) => trx.schema.alterTable("stores").addColumn("next", "text").execute(),
};

test.skipIf(!postgresEngine.isHere)(
  "a migration that waits for pg_dump lets requests pass between its attempts, and gives up with an explanation after a minute",
  async () => {
    const database = await postgresEngine.create();
    const clock = handClock();
    const storage = await openStorage({ clock }, database.url);
    const [migrating, dumping] = [0, 1].map(() => openPostgres(database.url, { patient: true })) as [
      typeof storage,
      typeof storage,
    ];
    const { store } = await createStore({ storage, clock }, { name: "Shop", rate_limit: 100 });
    const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const dumped = dumping.db.transaction().execute(async (trx) => {
      await trx.selectFrom("stores").select("id").execute();
      begun.resolve();
      await done.promise;
    });
    await begun.promise;
    const run = () => migrate({ storage: migrating, clock }, [...migrations, next]);
    const givenUp = expect(run()).rejects.toThrow("nothing of it was changed");
    const waiting = sql`select 1 from pg_locks where relation = 'stores'::regclass and not granted`;
    await until(async () => (await waiting.execute(dumping.db)).rows.length > 0);
    await until(() => findStore(storage, store.id).catch(() => false));
    clock.advance(60_000);
    await givenUp;
    done.resolve();
    await dumped;
    expect(await run()).toEqual(["next"]);
    for (const opened of [storage, migrating, dumping]) await opened.close();
    await database.drop();
  },
);
