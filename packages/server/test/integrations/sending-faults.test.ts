import { describe, expect, test } from "vitest";
import { createSequencer } from "../../src/events/sequencer.ts";
import { Deliverer } from "../../src/integrations/deliverer.ts";
import { createLog } from "../../src/lib/log.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { PUBLIC_URL } from "../support/app.ts";
import { openHooks } from "../support/hooks.ts";
import { until } from "../support/until.ts";
import { hooks, storeWithWebhooks } from "./store-with-webhooks.ts";

/** Faults of the database and of the deliverer itself. */

storeWithWebhooks();

describe("a database that fails while messages are under way", () => {
  test("never leads to a second sender: no message is at its receiver twice at once", async () => {
    const { clock } = hooks.latchkey;
    const storage = await openStorage({ clock }, "sqlite::memory:");
    let isToFail = false;
    const failing: Storage = Object.assign(Object.create(storage) as Storage, {
      transact: async <T>(...of: Parameters<typeof storage.transact<T>>) => {
        if (!isToFail) return storage.transact(...of);
        isToFail = false;
        throw new Error("Connection terminated");
      },
    });
    const here = await openHooks({ storage: failing });
    const open = new Set<string>();
    const twice: string[] = [];
    const held: (() => void)[] = [];
    here.receiver.answer((response, { json }) => {
      if (json.id === "a look") return void response.end();
      if (open.has(json.id)) twice.push(json.id);
      open.add(json.id);
      held.push(() => {
        open.delete(json.id);
        response.end();
      });
    });
    await here.integrate();
    for (let made = 0; made < 20; made++) await here.customer();
    await here.latchkey.app.tidy();
    await until(() => held.length === 8);
    // The first message is answered, and its outcome cannot be written.
    isToFail = true;
    held[0]?.();
    await until(() => !isToFail && held.length === 9);
    for (let looks = 0; looks < 5; looks++) {
      await here.latchkey.app.tidy();
      // Every message that was sent before this request has arrived when this request is answered.
      await fetch(here.receiver.url, { method: "POST", body: '{"id":"a look"}' });
    }
    expect(twice).toEqual([]);
    here.receiver.answer(200);
    for (const answer of held) answer();
    await here.deliver();
    await here.deliver();
    const subjects = here.receiver.arrived.flatMap(({ json }) => json.subject ?? []);
    expect(new Set(subjects).size).toBe(20);
    await here.close();
  });
});

test("a sending turn that an internal error ends starts again at the next look, once", async () => {
  const { storage, clock, keyring } = hooks.latchkey;
  let interrupted = 0;
  const write = () => {
    if (++interrupted === 3) void deliverer.stop();
  };
  const deliverer = new Deliverer({
    storage,
    clock,
    keyring,
    random: () => 0.5,
    log: createLog("warn", { write }),
    onAttempt() {},
    webhookEgress: { send: () => Promise.reject(new Error("a fault of our own")) },
  });
  await hooks.integrate();
  await hooks.customer();
  await createSequencer({
    storage,
    clock,
    publicUrl: PUBLIC_URL,
    mark: deliverer.mark.bind(deliverer),
  }).run();
  deliverer.start();
  await deliverer.look();
  await deliverer.idle();
  expect(interrupted).toBe(1);
});
