import { monitorEventLoopDelay } from "node:perf_hooks";
import { sql } from "kysely";
import { createStore } from "../packages/server/src/create-store.ts";
import { byService } from "../packages/server/src/events/event.ts";
import { noteEvents } from "../packages/server/src/events/note.ts";
import { createSequencer } from "../packages/server/src/events/sequencer.ts";
import { verifyLog } from "../packages/server/src/events/verify.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { newId } from "../packages/server/src/lib/ids.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";
import type { Storage } from "../packages/server/src/storage/storage.ts";
import { openPlaces } from "./places.ts";

/**
 * How many events a second one sequencer numbers, with a log that is long already, and how long it holds the event loop; then how
 * many a second `latchkey events verify` walks over. `npm run bench:events [events] [events that are there before]`.
 */
const EVENTS = Number(process.argv[2] ?? 20_000);
const BEFORE = Number(process.argv[3] ?? 50_000);
const STORES = 5;
const clock = steadyClock();
const publicUrl = "https://keys.example";

const places = await openPlaces();
try {
  for (const engine of places.engines) {
    const storage = await openStorage({ clock }, await places.newDatabase(engine));
    await measure(storage).finally(storage.close);
  }
} finally {
  await places.remove();
}

async function measure(storage: Storage): Promise<void> {
  const stores: string[] = [];
  for (let at = 0; at < STORES; at++)
    stores.push((await createStore({ storage, clock }, { name: "Bench", rate_limit: 1 })).store.id);
  const sequencer = createSequencer({ storage, clock, publicUrl });
  await note(storage, stores, BEFORE);
  await sequencer.run();
  await note(storage, stores, EVENTS);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await sequencer.run();
  const seconds = (performance.now() - startedMs) / 1000;
  const used = process.cpuUsage(cpu);
  delay.disable();
  const perSecond = (count: number, within: number) => Math.round(count / within).toLocaleString("en");
  console.log(
    `${storage.engine}: ${perSecond(EVENTS, seconds)} events a second numbered, ${Math.round((used.user + used.system) / EVENTS)} µs of CPU each; ` +
      `event loop held for ${(delay.percentile(99) / 1e6).toFixed(1)} ms (99 %), ${(delay.max / 1e6).toFixed(1)} ms at most`,
  );
  const bytes = await sizeOf(storage);
  if (bytes !== undefined)
    console.log(
      `${storage.engine}: ${Math.round(bytes / (BEFORE + EVENTS))} bytes an event, indexes included`,
    );
  const verifyMs = performance.now();
  const verdict = await verifyLog({ storage, clock, eventDays: 90 }, stores[0] ?? "");
  if (!verdict.isWhole) throw new Error(`the log is not whole at ${verdict.sequence}`);
  const took = (performance.now() - verifyMs) / 1000;
  console.log(`${storage.engine}: ${perSecond(verdict.events, took)} events a second verified`);
}

/** All there is in the database is the log. */
async function sizeOf({ engine, db }: Storage): Promise<number | undefined> {
  const { rows } =
    engine === "sqlite"
      ? await sql<{ bytes: number }>`
          select (page_count - freelist_count) * page_size as bytes
          from pragma_page_count, pragma_freelist_count, pragma_page_size`.execute(db)
      : await sql<{ bytes: number }>`select pg_total_relation_size('events') as bytes`.execute(db);
  return rows[0]?.bytes;
}

/** Sign-ins, as most events are. */
async function note(storage: Storage, stores: readonly string[], count: number): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    const by = { ...byService(stores[(done / 500) % stores.length] ?? ""), requestId: newId() };
    const some = Array.from({ length: Math.min(500, count - done) }, () => happening());
    await storage.transact((trx) => noteEvents(trx, { clock }, by, some));
  }
}

function happening() {
  const [id, customer] = [newId(), newId()];
  const resource = {
    type: "token",
    id,
    customer_id: customer,
    authentication_mechanism: "oidc",
    profile_name: "Company login",
    expires: 1_800_000_000,
    meta: { timestamps: { created_at: "2026-01-01T00:00:00.000Z" } },
  };
  return { type: "customer_token.created" as const, subject: id, personId: customer, resource };
}
