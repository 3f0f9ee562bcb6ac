import { afterEach, describe, expect, test } from "vitest";
import { LATCHKEY } from "../../packages/server/test/support/command.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { hasReleaseBefore, unpackReleaseBefore } from "../release/release-before.ts";
import { type Balancer, hasNginx, startBalancer } from "./balancer.ts";
import { canRunFleet, type Fleet, type Instance, startFleet } from "./fleet.ts";
import { openShop, type Shop } from "./shop.ts";
import { isReady, underLoad } from "./under-load.ts";

/** More rounds for a long run. */
const ROUNDS = Number(process.env.LATCHKEY_FLEET_ROUNDS ?? 1);

describe.skipIf(!canRunFleet || !hasNginx)(
  "behind nginx, as docs/proxy.md configures it",
  { timeout: 300_000 },
  () => {
    let fleet: Fleet;
    let shop: Shop;
    let front: Balancer;

    async function begin(program?: string): Promise<void> {
      fleet = await startFleet(program === undefined ? {} : { program });
      shop = await openShop(fleet);
      front = await startBalancer(fleet);
    }
    afterEach(async () => {
      await front?.close();
      await fleet?.close();
    });

    /** What docs/proxy.md does to a machine: nginx sees that it is not ready, and sends nothing there any more. */
    async function restart(instance: Instance, program?: string): Promise<void> {
      const stopped = instance.stop();
      await until(async () => !(await isReady(instance.url)));
      // The history shows failed requests; here an instance may be delayed for a moment.
      for (let asked = 0; asked < 30; asked++) await until(() => isReady(front.url));
      expect(await stopped).toBe(0);
      await instance.start(program);
      // The next instance must not restart before that: nginx would have one instance left, and none if that one is
      // slow for a moment.
      const before = await requestsOf(instance);
      await until(async () => (await requestsOf(instance)) > before);
    }

    /** Requests of clients, all through nginx. */
    async function requestsOf({ url }: Instance): Promise<number> {
      const text = await (await fetch(`${url}/metrics`)).text();
      const lines = text.matchAll(/^latchkey_http_requests_total\{.*route="\/v2\/.*\} (\d+)$/gm);
      return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
    }

    test("instances restart one after the other: no request fails", async () => {
      await begin();
      const name = "rolling restart behind nginx";
      await underLoad(fleet, shop, { name, front, recoversWithinSeconds: 1 }, async ({ served }) => {
        for (let round = 0; round < ROUNDS; round++)
          for (const instance of fleet.instances) {
            await restart(instance);
            await served(100);
          }
      });
    });

    test.skipIf(!hasReleaseBefore)(
      "a rolling upgrade from the previous release: only requests that wait for a table's change fail (T52)",
      async () => {
        const before = unpackReleaseBefore();
        try {
          await begin(before.program);
          const name = "rolling upgrade from the release before, behind nginx";
          await underLoad(
            fleet,
            shop,
            // The previous release answers 500 to the second sign-on of a new person, when two releases get one each at
            // once.
            { name, front, racesForPeople: false, recoversWithinSeconds: 2 },
            async ({ begin, served }) => {
              const [first, ...others] = fleet.instances as [Instance, ...Instance[]];
              // The new release migrates the tables, so a write may get 503 with Retry-After meanwhile.
              const end = begin({ shows: ["unavailable"] });
              await restart(first, LATCHKEY);
              end();
              for (const instance of others) {
                await served(100);
                await restart(instance, LATCHKEY);
              }
            },
          );
        } finally {
          before.remove();
        }
      },
    );
  },
);
