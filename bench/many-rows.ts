import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { createStore, getToken, serve } from "../e2e/running.ts";
import { forgetExpiredTokens } from "../packages/server/src/customers/tokens/customer-token.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { forgetOldAttempts } from "../packages/server/src/sign-on/claim-attempt.ts";
import { tidyRecords } from "../packages/server/src/sign-on-records/forget-records.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";
import { latchkey } from "../packages/server/test/support/command.ts";
import { insertCrowd } from "../packages/server/test/support/many-rows.ts";
import { startPostgres } from "../packages/server/test/support/postgres-server.ts";
import { findProgram } from "../packages/server/test/support/programs.ts";
import { unwatchedPlace } from "./unwatched-place.ts";

/**
 * What touches many rows, with a million customers (or as many as the first argument says): deleting their store while
 * the service serves another one, and forgetting what is over. `npm run bench:many-rows [customers] [sqlite|postgres]`.
 */
const CUSTOMERS = Number(process.argv[2] ?? 1_000_000);
const engines = process.argv[3] ? [process.argv[3]] : ["sqlite", "postgres"];
const clock = steadyClock();

for (const engine of engines) {
  const binaries = findProgram("postgres");
  if (engine === "postgres" && !binaries) throw new Error("PostgreSQL is not installed");
  const server = engine === "postgres" ? await startPostgres(binaries as string) : undefined;
  const place = await unwatchedPlace(server?.url);
  const running = await serve(place);
  try {
    await measureDeletion(engine, place);
    running.child.kill("SIGTERM");
    await running.exited;
    await measureForgetting(engine, place);
  } finally {
    running.child.kill("SIGKILL");
    await server?.remove();
    place.leave();
  }
}

type Where = Awaited<ReturnType<typeof unwatchedPlace>>;

async function measureDeletion(engine: string, place: Where): Promise<void> {
  const doomed = await createStore(place, "--rate-limit", "100000");
  const other = await createStore(place, "--rate-limit", "100000");
  await seed(place, doomed.store.id, clock.now() + 86_400_000);
  const token = await getToken(place.url, other);
  const doomedToken = await getToken(place.url, doomed);

  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  let isOver = false;
  let writes = 0;
  const write = async () => {
    while (!isOver) {
      const startedMs = performance.now();
      const data = { type: "customer", name: "Writing", email: `w${writes++}@shop.example` };
      const answer = await fetch(`${place.url}/v2/customers`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ data }),
      });
      await answer.arrayBuffer();
      latencies.push(performance.now() - startedMs);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      await sleep(20);
    }
  };
  const writer = write();
  const startedMs = performance.now();
  let deadAfterMs = Number.NaN;
  const watch = async () => {
    for (;;) {
      const headers = { authorization: `Bearer ${doomedToken}` };
      if ((await fetch(`${place.url}/v2/store`, { headers })).status === 401) break;
    }
    deadAfterMs = performance.now() - startedMs;
  };
  const watching = watch();
  const deleted = await latchkey(["store", "delete", "--id", doomed.store.id, "--yes", "--json"], place.env);
  const tookMs = performance.now() - startedMs;
  isOver = true;
  await writer;
  await watching;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(0);
  console.log(
    `${engine}: ${deleted.stdout.trim()} in ${(tookMs / 1000).toFixed(1)} s; its token was dead after ${deadAfterMs.toFixed(0)} ms\n` +
      `${engine}: ${latencies.length} writes to another store meanwhile: ${JSON.stringify([...statuses])}, ms p50 ${at(0.5)} p99 ${at(0.99)} max ${latencies.at(-1)?.toFixed(0)}`,
  );
  if (deleted.code !== 0) throw new Error(deleted.stderr);
}

async function measureForgetting(engine: string, place: Where): Promise<void> {
  const { store } = await createStore(place);
  await seed(place, store.id, clock.now() - 40 * 86_400_000);
  const storage = await openStorage({ clock }, place.env.LATCHKEY_DATABASE_URL ?? "");
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const chores = {
    "customer tokens": () => forgetExpiredTokens({ storage, clock }),
    attempts: () => forgetOldAttempts({ storage, clock }),
    "records of sign-ons": () =>
      tidyRecords({ storage, clock, recorder: { count() {} }, codeSeconds: 60, recordDays: 30 }),
  };
  for (const [name, chore] of Object.entries(chores)) {
    const startedMs = performance.now();
    let rounds = 1;
    delay.reset();
    delay.enable();
    while (await chore()) rounds++;
    delay.disable();
    console.log(
      `${engine}: forgot ${CUSTOMERS} ${name} in ${rounds} rounds, ${((performance.now() - startedMs) / 1000).toFixed(1)} s; ` +
        `the event loop stood still for ms p99 ${(delay.percentile(99) / 1e6).toFixed(1)} p99.9 ${(delay.percentile(99.9) / 1e6).toFixed(1)} max ${(delay.max / 1e6).toFixed(1)}`,
    );
  }
  await storage.close();
}

async function seed(place: Where, storeId: string, overAt: number): Promise<void> {
  const storage = await openStorage({ clock }, place.env.LATCHKEY_DATABASE_URL ?? "");
  const startedMs = performance.now();
  await insertCrowd(storage, { storeId, count: CUSTOMERS, overAt });
  await storage.close();
  // Seeding SQLite stops our own event loop: connections that were closed meanwhile are noticed now.
  await sleep(1000);
  console.log(`seeded ${CUSTOMERS} customers in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}
