import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { getToken } from "../support/running.ts";
import { canRunFleet, type Fleet, type Instance, startFleet } from "./fleet.ts";
import { openShop, type Shop, send } from "./shop.ts";
import { isReady, underLoad } from "./under-load.ts";

/** More rounds for a long run. */
const KILLS = Number(process.env.LATCHKEY_FLEET_ROUNDS ?? 20);

describe.skipIf(!canRunFleet)("an instance", { timeout: 300_000 }, () => {
  let fleet: Fleet;
  let shop: Shop;
  let [a, b]: Instance[] = [];

  beforeAll(async () => {
    fleet = await startFleet();
    shop = await openShop(fleet);
    [a, b] = fleet.instances;
  });
  afterAll(() => fleet?.close());

  test(`is killed ${KILLS} times under load: no acknowledged write is lost`, async () => {
    const name = `kill -9 of an instance, ${KILLS} times`;
    await underLoad(fleet, shop, { name, recoversWithinSeconds: 10 }, async ({ begin, served }) => {
      for (let round = 0; round < KILLS; round++) {
        const instance = fleet.instances[round % fleet.instances.length] as Instance;
        const killed = begin({ at: instance.name, shows: ["broken"] });
        const gone = begin({ at: instance.name, shows: ["broken"] });
        await instance.kill();
        // Recovery begins here, and takes as long as a start.
        killed();
        await instance.start();
        gone();
        await served(10, instance.name);
      }
    });
  });

  test("is paused and resumed: the others serve, and its clients wait no longer than the pause", async () => {
    const { name: at } = b as Instance;
    const name = "SIGSTOP and SIGCONT of an instance";
    await underLoad(fleet, shop, { name, recoversWithinSeconds: 10 }, async ({ begin, served }) => {
      for (let round = 0; round < 2; round++) {
        const ends = [
          begin({ at, shows: ["paused", "unavailable"] }),
          // Rows that it had locked stay locked for up to five seconds.
          begin({ shows: ["unavailable"] }),
        ];
        b?.signal("SIGSTOP");
        // A client that does not wait for answers, so it sends during the pause; four seconds of it.
        await served(40).finally(() => b?.signal("SIGCONT"));
        for (const end of ends) end();
        await served(50, at);
      }
    });
  });

  test("is paused while a token is revoked elsewhere: after the pause it refuses the token at once (I4)", async () => {
    const [here, there] = [a as Instance, b as Instance];
    const { client_id, client_secret } = shop.work.made.application_key;
    for (let round = 0; round < 5; round++) {
      const token = await getToken(here.url, shop.work.made);
      const use = async () => (await send(there.url, token, "GET", "/v2/store")).status;
      expect(await use()).toBe(200);
      there.signal("SIGSTOP");
      const body = new URLSearchParams({ token, client_id, client_secret });
      expect((await fetch(`${here.url}/oauth/revoke`, { method: "POST", body })).status).toBe(200);
      const revokedMs = performance.now();
      await until(() => performance.now() > revokedMs + 1100);
      const used = use();
      there.signal("SIGCONT");
      expect(await used).toBe(401);
    }
  });

  test("has its clock set an hour forward and back: no request fails, and readiness reports it (T48)", async () => {
    const { name: at, url } = b as Instance;
    const name = "clock of one instance set an hour on and back";
    await underLoad(fleet, shop, { name, recoversWithinSeconds: 5 }, async ({ begin, served }) => {
      for (let step = 0; step < 2; step++) {
        const end = begin({ at, shows: [] });
        b?.signal("SIGUSR2");
        await until(async () => !(await isReady(url)));
        await served(60, at);
        b?.signal("SIGUSR2");
        end();
        await until(() => isReady(url));
        await served(60, at);
      }
    });
  });
});
