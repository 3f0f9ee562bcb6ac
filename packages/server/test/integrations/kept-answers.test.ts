import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { eraseCustomer } from "../../src/contract/customers.ts";
import { testIntegration } from "../../src/contract/deliveries.ts";
import { eraseSome } from "../../src/events/erase.ts";
import { takeDue } from "../../src/integrations/lease.ts";
import { settle } from "../../src/integrations/settle.ts";
import { mostInOneTurn } from "../support/statements.ts";
import { DAY, HOUR, hooks, SECOND, storeWithWebhooks } from "./store-with-webhooks.ts";

/** How long deliveries and the receivers' answers are kept, and when they are deleted. */

storeWithWebhooks();

type Delivery = { attempts: { answer: string | null }[] };

describe("the answer of a receiver", () => {
  test("is read up to 64 KB, of which 1 KB is kept; a 200 with 10 MB counts as delivered", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    let sent = 0;
    hooks.receiver.answer((response) => {
      response.writeHead(200, { "Content-Length": 10_000_000 });
      const more = () => {
        while (sent < 10_000_000 && !response.destroyed) {
          sent += 10_000;
          if (!response.write(Buffer.alloc(10_000, "é"))) return void response.once("drain", more);
        }
      };
      more();
    });
    await hooks.deliver();
    const [delivery] = await hooks.deliveries(id);
    expect(delivery).toMatchObject({ status: "delivered", attempts: [{ status: 200 }] });
    expect(Buffer.byteLength(delivery.attempts[0].answer)).toBeLessThanOrEqual(1026);
    expect(sent).toBeLessThan(10_000_000);
  });

  test("is kept without the secret key, which is for administrators", async () => {
    const secret_key = "correct horse battery staple";
    const { id } = await hooks.integrate({ configuration: { url: hooks.receiver.url, secret_key } });
    hooks.receiver.answer((response, { headers }) =>
      response.writeHead(200).end(`${"x".repeat(1010)} ${headers["x-moltin-secret-key"]} ${secret_key}`),
    );
    await hooks.customer();
    await hooks.deliver();
    const [{ attempts }] = await hooks.deliveries(id);
    expect(attempts[0].answer).toBe(`${"x".repeat(1010)} (left out) (l`);
    const { body } = await hooks.store.call(testIntegration, { ids: { id } });
    expect(body.data.attempt.answer).not.toContain("correct");
  });

  test("may be no text, compressed, or empty", async () => {
    const { id } = await hooks.integrate();
    for (const [body, headers] of [
      [Buffer.from([0, 255, 254, 65]), {}],
      [Buffer.from("x"), { "Content-Encoding": "gzip" }],
      ["", {}],
    ] as const) {
      hooks.receiver.answer((response) => response.writeHead(200, headers).end(body));
      await hooks.customer();
      await hooks.deliver();
    }
    const answers = (await hooks.deliveries(id)).map(({ attempts }: Delivery) => attempts[0]?.answer);
    expect(answers).toEqual(["", "", "\uFFFD\uFFFD\uFFFDA"]);
  });
});

describe("kept deliveries", () => {
  test("are deleted after 14 days, except waiting ones", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.deliver();
    await hooks.pass(14 * DAY - 1);
    expect(await hooks.deliveries(id)).toHaveLength(1);
    await hooks.pass(61 * SECOND);
    expect(await hooks.deliveries(id)).toEqual([]);
  });

  test("lose the receiver's answers when the person is erased, also the answer of an attempt that is under way", async () => {
    const { id } = await hooks.integrate();
    let hold = false;
    const held: (() => void)[] = [];
    hooks.receiver.answer((response, { body }) => {
      const end = () => response.writeHead(500).end(body);
      if (hold) held.push(end);
      else end();
    });
    const ada = await hooks.customer("Ada Lovelace");
    await hooks.deliver();
    const kept = async () => JSON.stringify(await hooks.deliveries(id));
    expect(await kept()).toContain("Ada Lovelace");
    hold = true;
    hooks.latchkey.clock.advance(5 * SECOND);
    await hooks.latchkey.app.tidy();
    while (held.length === 0) await sleep(5);
    await hooks.store.call(eraseCustomer, { ids: { id: ada } });
    expect(await kept()).not.toContain("Ada Lovelace");
    hold = false;
    held[0]?.();
    await hooks.latchkey.app.delivered();
    const [last] = (await hooks.deliveries(id)).slice(-1);
    expect(last.attempts).toMatchObject([
      { status: 500, answer: null },
      { status: 500, answer: null },
    ]);
    expect(JSON.stringify(await hooks.deliveries(id))).not.toContain("Ada Lovelace");
    await hooks.pass(HOUR);
    expect(hooks.receiver.arrived.at(-1)?.body).not.toContain("Ada Lovelace");
  });

  test("lose the answers about the erased person, and keep those about others that are written in the same batch", async () => {
    await hooks.integrate();
    hooks.receiver.answer((response) => response.destroy());
    const [ada, bea] = [await hooks.customer("Ada"), await hooks.customer("Bea")];
    await hooks.deliver();
    await hooks.store.call(eraseCustomer, { ids: { id: ada } });
    const { storage, clock } = hooks.latchkey;
    clock.advance(HOUR);
    const [integration] = await takeDue({ storage, clock }, true, 1);
    if (!integration) throw new Error("nothing is due");
    const read = () => storage.db.selectFrom("integration_deliveries").selectAll().execute();
    const attempt = { at: clock.now(), status: 200, reason: null, milliseconds: 1, answer: "heard of it" };
    const outcomes = (await read()).map((row) => ({
      row,
      attempted: { attempt, url: integration.url, retryAfterMs: undefined },
    }));
    await settle({ storage, clock, random: () => 0.5 }, integration, outcomes);
    const answers = (await read()).map(({ subject, attempts }) => [
      subject,
      JSON.parse(attempts).at(-1).answer,
    ]);
    expect(new Map(answers as [string, unknown][])).toEqual(
      new Map([
        [ada, null],
        [bea, "heard of it"],
      ]),
    );
  });

  test("keep an attempt that was added while the answers were removed", async () => {
    await hooks.integrate();
    hooks.receiver.answer((response, { body }) => response.writeHead(500).end(body));
    const ada = await hooks.customer("Ada Lovelace");
    await hooks.deliver();
    const { storage, clock } = hooks.latchkey;
    const attempts = JSON.stringify([{ answer: null }, { answer: null }]);
    let isAdded = false;
    const db = storage.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        // The delivery was read; before the change is written, another attempt is added.
        if (!isAdded && result.rows.some((row) => "attempts" in row)) {
          isAdded = true;
          await storage.db.updateTable("integration_deliveries").set({ attempts }).execute();
        }
        return result;
      },
    });
    const person = { storeId: hooks.store.store.id, personId: ada };
    await eraseSome({ storage: { ...storage, db }, clock }, person);
    const rows = await storage.db.selectFrom("integration_deliveries").select("attempts").execute();
    expect(rows).toEqual([{ attempts }]);
  });

  test("lose many answers integration by integration, so other work runs in between", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push((await hooks.integrate()).id);
    hooks.receiver.answer((response, { body }) => response.writeHead(200).end(body));
    const ada = await hooks.customer("Ada Lovelace");
    for (let at = 0; at < 19; at++) await hooks.rename(ada, `Ada Lovelace ${at}`);
    await hooks.deliver();
    const person = { storeId: hooks.store.store.id, personId: ada };
    const { storage, clock } = hooks.latchkey;
    const most = await mostInOneTurn(storage, (watched) => eraseSome({ storage: watched, clock }, person));
    expect(most).toBeLessThan(50);
    for (const id of ids) expect(JSON.stringify(await hooks.deliveries(id))).not.toContain("Lovelace");
  });
});
