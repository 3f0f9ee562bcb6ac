import { describe, expect, test } from "vitest";
import { redeliver, replayEvents } from "../../src/contract/deliveries.ts";
import { createTestApp } from "../support/app.ts";
import { watchStatements } from "../support/statements.ts";
import { change, DAY, hooks, SECOND, storeWithWebhooks } from "./store-with-webhooks.ts";

/** Late and repeated messages: after a disabled integration is enabled, by a redelivery, and by a replay. */

storeWithWebhooks();

describe("a disabled integration", () => {
  test("sends nothing; enabled again, it sends new events, and a replay sends the missed ones", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer("before");
    await hooks.deliver();
    await change(id, { enabled: false });
    await hooks.customer("meanwhile");
    await hooks.deliver();
    await change(id, { enabled: true });
    await hooks.customer("after");
    await hooks.deliver();
    const names = () => hooks.receiver.arrived.map(({ json }) => json.data.resource.name);
    expect(names()).toEqual(["before", "after"]);
    const replayed = await hooks.store.call(replayEvents, { ids: { id }, json: { data: { after: 0 } } });
    expect(replayed.body.data.meta.replay).toMatchObject({ after: "0" });
    await hooks.deliver();
    expect(names().slice(2).sort()).toEqual(["after", "before", "meanwhile"]);
    expect((await hooks.see(id)).meta.replay).toBeNull();
  });

  test("keeps waiting deliveries, and sends them when it is enabled again", async () => {
    const { id } = await hooks.integrate();
    hooks.receiver.answer(500);
    await hooks.customer();
    await hooks.deliver();
    await change(id, { enabled: false });
    await hooks.pass(DAY);
    expect(hooks.receiver.arrived).toHaveLength(1);
    hooks.receiver.answer(200);
    await change(id, { enabled: true });
    await hooks.deliver();
    expect(hooks.receiver.arrived).toHaveLength(2);
  });
});

describe("sending again", () => {
  test("a redelivery goes out at once with the same id, whatever its state was (wire 17)", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.deliver();
    const [{ id: delivery }] = await hooks.deliveries(id);
    const answer = await hooks.store.call(redeliver, { ids: { id, delivery } });
    expect(answer.body.data).toMatchObject({ id: delivery, status: "waiting" });
    await hooks.deliver();
    expect(hooks.receiver.arrived).toHaveLength(2);
    const [first, second] = hooks.receiver.arrived;
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    const [again] = await hooks.deliveries(id);
    expect(again).toMatchObject({ id: delivery, status: "delivered" });
    expect(again.attempts).toHaveLength(2);
    await change(id, { enabled: false });
    expect((await hooks.store.call(redeliver, { ids: { id, delivery } })).code).toBe("integration_disabled");
    expect((await hooks.deliveries(id))[0].status).toBe("delivered");
  });

  test("a replay sends the events after one number and up to another, also those sent before (wire 17)", async () => {
    const { id } = await hooks.integrate();
    for (const name of ["one", "two", "three", "four"]) await hooks.customer(name);
    await hooks.deliver();
    const numbers = hooks.receiver.arrived.map(({ json }) => Number(json.sequence)).sort((a, b) => a - b);
    hooks.receiver.arrived.length = 0;
    const data = { after: String(numbers[0]), before: numbers[2] };
    expect((await hooks.store.call(replayEvents, { ids: { id }, json: { data } })).status).toBe(202);
    expect((await hooks.store.call(replayEvents, { ids: { id }, json: { data } })).code).toBe(
      "replay_under_way",
    );
    await hooks.deliver();
    const arrived = hooks.receiver.arrived.map(({ json }) => Number(json.sequence)).sort((a, b) => a - b);
    expect(arrived).toEqual(numbers.slice(1, 3));
    expect(await hooks.deliveries(id)).toHaveLength(4);
    await change(id, { enabled: false });
    expect((await hooks.store.call(replayEvents, { ids: { id }, json: { data } })).code).toBe(
      "integration_disabled",
    );
  });

  test("a replay writes its deliveries by the page, not with a statement for each event", async () => {
    const { id } = await hooks.integrate();
    for (let at = 0; at < 20; at++) await hooks.customer();
    await hooks.deliver();
    await hooks.store.call(replayEvents, { ids: { id }, json: { data: { after: 0 } } });
    const { storage, clock, keyring } = hooks.latchkey;
    let writes = 0;
    const watched = watchStatements(storage, ({ sql }) => {
      if (/^insert into "integration_deliveries"/.test(sql)) writes++;
    });
    const allowedOrigins = [hooks.receiver.origin];
    const { app } = await createTestApp({ storage: watched, clock, keyring, allowedOrigins });
    await app.tidy();
    await app.delivered();
    expect(hooks.receiver.arrived).toHaveLength(40);
    expect(writes).toBeLessThan(8);
  });

  test("a replay of deleted events is 410, and a replay of no events does nothing", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.deliver();
    await hooks.latchkey.storage.db.updateTable("event_heads").set({ first_sequence: 3 }).execute();
    const replay = (data: object) => hooks.store.call(replayEvents, { ids: { id }, json: { data } });
    expect((await replay({ after: 0 })).code).toBe("events_gone");
    expect((await replay({ after: 900, before: 1000 })).body.data.meta.replay).toBeNull();
  });

  test("the delivery of a deleted event fails with event_forgotten", async () => {
    const { id } = await hooks.integrate();
    hooks.receiver.answer(500);
    await hooks.customer();
    await hooks.deliver();
    await hooks.latchkey.storage.db.deleteFrom("events").execute();
    await hooks.pass(5 * SECOND);
    expect(await hooks.deliveries(id)).toMatchObject([{ status: "failed", reason: "event_forgotten" }]);
  });
});
