import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createStore } from "../packages/server/src/create-store.ts";
import { createEgress } from "../packages/server/src/egress/egress.ts";
import { byService } from "../packages/server/src/events/event.ts";
import { noteEvents } from "../packages/server/src/events/note.ts";
import { createSequencer } from "../packages/server/src/events/sequencer.ts";
import { createIntegration } from "../packages/server/src/integrations/administer.ts";
import { Deliverer } from "../packages/server/src/integrations/deliverer.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { newId } from "../packages/server/src/lib/ids.ts";
import { createKeyring } from "../packages/server/src/lib/keyring.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";
import type { Storage } from "../packages/server/src/storage/storage.ts";
import { silentLog } from "../packages/server/test/support/silent-log.ts";
import { openPlaces } from "./places.ts";

/**
 * A backlog of events for one webhook: how many a second are delivered, and what memory that takes. The receiver is a process of its
 * own on this machine, and answers at once. `npm run bench:webhooks [events]`.
 */
const EVENTS = Number(process.argv[2] ?? 100_000);
const clock = steadyClock();
const publicUrl = "https://keys.example";
const keyring = createKeyring([Buffer.alloc(32, 1)]);

const receiver: ChildProcess = fork(new URL("yardsticks/receiver.ts", import.meta.url));
const [port] = (await once(receiver, "message")) as [number];
const places = await openPlaces();
try {
  for (const engine of places.engines) {
    const storage = await openStorage({ clock }, await places.newDatabase(engine));
    await measure(storage).finally(storage.close);
  }
} finally {
  await places.remove();
  receiver.disconnect();
}

async function measure(storage: Storage): Promise<void> {
  const origin = `http://127.0.0.1:${port}`;
  const { store } = await createStore({ storage, clock }, { name: "Bench", rate_limit: 1 });
  let delivered = 0;
  const deliverer = new Deliverer({
    storage,
    clock,
    keyring,
    random: Math.random,
    log: silentLog,
    webhookEgress: createEgress({ allowedOrigins: [origin] }),
    onAttempt: (outcome) => {
      if (outcome === "delivered") delivered++;
    },
  });
  const sequencer = createSequencer({ storage, clock, publicUrl, mark: deliverer.mark.bind(deliverer) });
  const by = byService(store.id);
  await createIntegration({ storage, clock, keyring, allowedOrigins: [origin], publicUrl }, by, {
    name: "Bench",
    integration_type: "webhook",
    observes: ["customer_token.*"],
    configuration: { url: origin },
  });
  for (let noted = 0; noted < EVENTS; noted += 500) {
    await storage.transact((trx) => noteEvents(trx, { clock }, by, Array.from({ length: 500 }, happening)));
    await sequencer.run();
  }
  const before = process.memoryUsage();
  const most = { rss: 0, heap: 0 };
  const watch = setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    most.rss = Math.max(most.rss, rss);
    most.heap = Math.max(most.heap, heapUsed);
  }, 50);
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  deliverer.start();
  await deliverer.look();
  while (delivered < EVENTS) await sleep(50);
  const seconds = (performance.now() - startedMs) / 1000;
  const used = process.cpuUsage(cpu);
  clearInterval(watch);
  await deliverer.stop();
  const mb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;
  console.log(
    `${storage.engine}: ${Math.round(EVENTS / seconds).toLocaleString("en")} deliveries a second of ${EVENTS.toLocaleString("en")} that waited, ` +
      `${Math.round((used.user + used.system) / EVENTS)} µs of CPU each; resident ${mb(before.rss)} before, ${mb(most.rss)} at most; ` +
      `heap ${mb(before.heapUsed)} before, ${mb(most.heap)} at most`,
  );
}

function happening() {
  const [id, customer] = [newId(), newId()];
  const resource = { type: "token", id, customer_id: customer, authentication_mechanism: "oidc" };
  return { type: "customer_token.created" as const, subject: id, personId: customer, resource };
}
