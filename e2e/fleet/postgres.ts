import { afterAll, beforeAll, describe, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { canRunFleet, type Fleet, startFleet } from "./fleet.ts";
import { openShop, type Shop } from "./shop.ts";
import { type Trouble, underLoad } from "./under-load.ts";

/** While it is away: 503 with Retry-After and nothing else. */
const AWAY = { shows: ["unavailable"] } as const;

describe.skipIf(!canRunFleet)("PostgreSQL", { timeout: 300_000 }, () => {
  let fleet: Fleet;
  let shop: Shop;

  beforeAll(async () => {
    fleet = await startFleet();
    shop = await openShop(fleet);
  });
  afterAll(() => fleet?.close());

  const lines = () => fleet.instances.map(({ database }) => database);
  const during = (
    name: string,
    recoversWithinSeconds: number,
    trouble: (trouble: Trouble) => Promise<void>,
  ) => underLoad(fleet, shop, { name, recoversWithinSeconds }, trouble);

  test("is stopped for ten seconds, first smart, then fast", () =>
    during("PostgreSQL stopped for 10 s", 10, async ({ begin, served, failed }) => {
      const end = begin(AWAY);
      const startedMs = performance.now();
      // A smart stop keeps existing connections, and refuses new ones.
      const gone = fleet.postgres.stop("smart");
      await served(50);
      await fleet.postgres.stop("fast");
      await gone;
      await failed(30);
      await until(() => performance.now() > startedMs + 10_000);
      await fleet.postgres.start();
      end();
    }));

  test("crashes, and recovers by its log", () =>
    during("PostgreSQL crashed (immediate)", 10, async ({ begin, failed, served }) => {
      for (let round = 0; round < 2; round++) {
        const end = begin(AWAY);
        await fleet.postgres.stop("immediate");
        await failed(10);
        await fleet.postgres.start();
        end();
        await served(100);
      }
    }));

  test("is paused", () =>
    during("PostgreSQL stands still (SIGSTOP)", 10, async ({ begin, failed, served }) => {
      for (let round = 0; round < 3; round++) {
        const end = begin(AWAY);
        fleet.postgres.pause();
        await failed(10);
        fleet.postgres.resume();
        end();
        await served(100);
      }
    }));

  test("has its connections cut repeatedly", () =>
    during("connections to PostgreSQL cut, 10 times", 10, async ({ begin, served }) => {
      for (let round = 0; round < 10; round++) {
        const end = begin(AWAY);
        for (const line of lines()) line.cut();
        end();
        await served(30);
      }
    }));

  test("swallows packets for one instance, then for all", () =>
    during("PostgreSQL black-holed", 10, async ({ begin, failed, served }) => {
      for (const holes of [lines().slice(1, 2), lines()]) {
        const end = begin(AWAY);
        for (const line of holes) line.blackHole();
        await failed(20);
        for (const line of holes) line.mend();
        end();
        await served(100);
      }
    }));

  test("is behind a partition, after which every packet arrives late", () =>
    during("PostgreSQL behind a partition", 10, async ({ begin, failed, served }) => {
      for (const held of [lines().slice(1, 2), lines()]) {
        const end = begin(AWAY);
        for (const line of held) line.hold();
        await failed(20);
        for (const line of held) line.mend();
        end();
        await served(100);
      }
    }));
});
