import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasValkey } from "../../packages/server/test/support/valkey-server.ts";
import { canRunFleet, type Fleet, type Instance, startFleet } from "./fleet.ts";
import { openShop, type Shop } from "./shop.ts";
import { type Trouble, underLoad } from "./under-load.ts";

/** No effect on clients: no 5xx, no broken connection, and no refusal within a reservation. */
const UNNOTICED = { shows: [] } as const;

describe.skipIf(!canRunFleet || !hasValkey)("Valkey", { timeout: 300_000 }, () => {
  let fleet: Fleet;
  let shop: Shop;

  beforeAll(async () => {
    fleet = await startFleet({ withValkey: true });
    shop = await openShop(fleet);
  });
  afterAll(() => fleet?.close());

  const lines = () => fleet.instances.map(({ valkey }) => valkey);
  const during = (name: string, trouble: (trouble: Trouble) => Promise<void>, recoversWithinSeconds = 10) =>
    underLoad(fleet, shop, { name, recoversWithinSeconds }, trouble);

  /** The degraded parts that readiness reports; the instance is ready even so. */
  const degraded = async ({ url }: Instance) => {
    const answer = await fetch(`${url}/health/ready`);
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { degraded?: string[] }).degraded ?? [];
  };
  const untilAll = (isSo: (reasons: string[]) => boolean, instances: readonly Instance[]) =>
    Promise.all(instances.map((instance) => until(async () => isSo(await degraded(instance)))));
  const untilAway = (instances = fleet.instances) => untilAll((reasons) => reasons.length > 0, instances);
  const untilBack = () => untilAll((reasons) => reasons.length === 0, fleet.instances);

  test("is up: three instances together serve the limit, and no more", () =>
    during("none, for comparison", async ({ served }) => {
      // Long enough for stretches of five seconds.
      const startedMs = performance.now();
      await until(() => performance.now() > startedMs + 6000);
      await served(1);
    }).then(({ entries }) => {
      // Two keys request more than the limit together, and one sends a flood.
      for (const refusal of [409, 429]) expect(entries.some(({ status }) => status === refusal)).toBe(true);
    }));

  test("is stopped and comes back empty (T47)", () =>
    during("Valkey stopped", async ({ begin, served }) => {
      for (let round = 0; round < 2; round++) {
        const end = begin(UNNOTICED);
        await fleet.valkey?.stop();
        await untilAway();
        await served(200);
        await fleet.valkey?.start();
        end();
        await untilBack();
        await served(100);
      }
    }));

  test("is flushed repeatedly, scripts included", () =>
    during("Valkey flushed, 10 times", async ({ begin, served }) => {
      for (let round = 0; round < 10; round++) {
        const end = begin(UNNOTICED);
        await fleet.valkey?.say("FLUSHALL");
        await fleet.valkey?.say("SCRIPT FLUSH");
        end();
        await served(50);
      }
      await untilBack();
    }));

  test("is slow, then slower than the time limit", () =>
    during("Valkey slow (20 ms, then 200 ms)", async ({ begin, served }) => {
      const end = begin(UNNOTICED);
      for (const line of lines()) line.toClient.delayMs = 20;
      await served(150);
      for (const line of lines()) line.toClient.delayMs = 200;
      await untilAway();
      await served(150);
      for (const line of lines()) line.mend();
      end();
      await untilBack();
    }));

  test("swallows packets for one instance, then for all", () =>
    during("Valkey black-holed", async ({ begin, served }) => {
      for (const holes of [fleet.instances.slice(1, 2), fleet.instances]) {
        const end = begin(UNNOTICED);
        for (const { valkey } of holes) valkey.blackHole();
        await untilAway(holes);
        await served(150);
        for (const { valkey } of holes) valkey.mend();
        end();
        await untilBack();
        await served(50);
      }
    }));

  test("crashes together with PostgreSQL", () =>
    during(
      "Valkey and PostgreSQL crashed at once",
      async ({ begin, served, failed }) => {
        const end = begin({ shows: ["unavailable"] });
        await Promise.all([fleet.valkey?.stop(), fleet.postgres.stop("immediate")]);
        await failed(30);
        await Promise.all([fleet.valkey?.start(), fleet.postgres.start()]);
        end();
        await served(100);
        await untilBack();
      },
      10,
    ));
});
