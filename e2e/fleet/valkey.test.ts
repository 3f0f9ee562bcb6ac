import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasValkey } from "../../packages/server/test/support/valkey-server.ts";
import { canRunFleet, type Fleet, startFleet } from "./fleet.ts";
import { openShop, type Shop } from "./shop.ts";
import { type Trouble, underLoad } from "./under-load.ts";

/** Nobody notices: no 5xx, no broken connection, and no key is refused what is reserved for it. */
const UNNOTICED = { shows: [] } as const;

describe.skipIf(!canRunFleet || !hasValkey)("Valkey", () => {
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

  /** What is not as it should be with them, as readiness says; they are ready all the same. */
  const degraded = (instances = fleet.instances) =>
    Promise.all(
      instances.map(async ({ url }) => {
        const answer = await fetch(`${url}/health/ready`);
        expect(answer.status).toBe(200);
        return ((await answer.json()) as { degraded?: string[] }).degraded ?? [];
      }),
    );
  const untilAway = (instances = fleet.instances) =>
    until(async () => (await degraded(instances)).every((reasons) => reasons.length > 0));
  const untilBack = () => until(async () => (await degraded()).every((reasons) => reasons.length === 0));

  test("is there: three instances together serve what the limit says, and no more", () =>
    during("none, for comparison", async ({ served }) => {
      // Long enough for stretches of five seconds.
      const startedMs = performance.now();
      await until(() => performance.now() > startedMs + 6000);
      await served(1);
    }));

  test("is stopped and comes back empty", () =>
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

  test("is flushed, scripts and all, again and again", () =>
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

  test("is slow, then too slow to wait for", () =>
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

  test("is in a black hole for one instance, then for all", () =>
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
