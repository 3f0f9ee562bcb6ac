import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handClock } from "../../../test/support/clock.ts";
import { type Counting, describeCounting, describeTogether } from "../../../test/support/counting.ts";
import { createScript } from "../../counters/script.ts";
import { createHealth, type Health } from "./health.ts";

/** How many profiles Valkey knows, and how many in the order of their changes. */
const KEPT = createScript("return { { redis.call('HLEN', slot), redis.call('ZCARD', slot .. ':changes') } }");

const REST_MS = 5_000;
const DAY_MS = 86_400_000;

/** An instance, what it has asked Valkey, and which changes it was the one to note. */
function instance({ clock, valkey }: Counting) {
  const asked: unknown[] = [];
  const changes: string[] = [];
  const counters = valkey && {
    ...valkey,
    run: (...[script, slot, item]: Parameters<typeof valkey.run>) => {
      asked.push(item[0]);
      return valkey.run(script, slot, item);
    },
  };
  const onHealthChanged = (profileId: string, status: string) => changes.push(`${profileId} ${status}`);
  return { ...createHealth({ clock, valkey: counters, onHealthChanged }), asked, changes };
}

async function fail(health: Pick<Health, "note">, profileId: string, times = 5): Promise<void> {
  for (let time = 0; time < times; time++) await health.note(profileId, "failed");
}

describeCounting((begin, runs) => {
  const step = fc.record({
    gapMs: fc.oneof(fc.nat(3000), fc.constant(REST_MS)),
    profileId: fc.constantFrom("a", "b"),
    outcome: fc.constantFrom("well", "failed", "failed", "failed", "reached"),
    times: fc.nat(4),
    /** How long the provider was waited for. */
    waitMs: fc.oneof(fc.constant(0), fc.nat(8000)),
    at: fc.nat(2),
  } as const);

  test("for any outcomes, on any instance that has read the others' changes, health and rest are those of one process", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, valkey } = begin();
        const instances = Array.from({ length: valkey ? 3 : 1 }, () => instance({ clock, valkey }));
        const model = instance({ clock, valkey: undefined });
        for (const { gapMs, profileId, outcome, times, waitMs, at } of steps) {
          clock.advance(gapMs);
          const one = instances[at % instances.length] as (typeof instances)[number];
          for (let time = 0; time < times; time++) {
            const mayAsk = await one.mayAsk(profileId);
            expect(mayAsk).toBe(await model.mayAsk(profileId));
            if (!mayAsk) continue;
            clock.advance(waitMs);
            await one.note(profileId, outcome);
            await model.note(profileId, outcome);
          }
          for (const { refresh, healthOf, count } of instances) {
            await refresh();
            expect(healthOf(profileId)).toEqual(model.healthOf(profileId));
            expect(count()).toEqual(model.count());
          }
        }
        expect(instances.flatMap(({ changes }) => changes).toSorted()).toEqual(model.changes.toSorted());
      }),
      runs(200),
    );
  });

  test("every change of status is reported once, and no report without a change", async () => {
    const health = instance(begin());
    await health.note("a", "well");
    await fail(health, "a", 7);
    await health.note("a", "reached");
    await health.note("a", "reached");
    await health.note("a", "well");
    await health.note("a", "well");
    expect(health.changes).toEqual(["a degraded", "a down", "a degraded", "a up"]);
  });

  test("a provider that was only reached is down again after the next failure", async () => {
    const health = instance(begin());
    await fail(health, "a");
    await health.note("a", "reached");
    expect(health.healthOf("a")?.status).toBe("degraded");
    await fail(health, "a", 1);
    expect(health.healthOf("a")?.status).toBe("down");
  });

  test("a healthy or resting provider costs no call to Valkey", async () => {
    const health = instance(begin());
    for (let time = 0; time < 100; time++) {
      expect(await health.mayAsk("a")).toBe(true);
      await health.note("a", "well");
    }
    expect(health.asked).toEqual([]);
    await fail(health, "a");
    const before = health.asked.length;
    for (let time = 0; time < 100; time++) expect(await health.mayAsk("a")).toBe(false);
    expect(health.asked).toHaveLength(before);
  });
});

describeTogether((begin) => {
  const started = () => {
    const counting = begin();
    return { clock: counting.clock, here: instance(counting), there: instance(counting) };
  };

  describe("two instances", () => {
    test("count failures in a row together, and stop sending together", async () => {
      const { here, there } = started();
      for (let time = 0; time < 5; time++) await fail(time % 2 ? here : there, "a", 1);
      await here.refresh();
      await there.refresh();
      for (const one of [here, there]) {
        expect(one.healthOf("a")?.status).toBe("down");
        expect(await one.mayAsk("a")).toBe(false);
      }
    });

    test("send one request between them after the rest, to see whether the provider answers", async () => {
      const { clock, here, there } = started();
      await fail(here, "a");
      await there.refresh();
      clock.advance(REST_MS);
      const asking = Array.from({ length: 50 }, (_, time) => (time % 2 ? here : there).mayAsk("a"));
      expect((await Promise.all(asking)).filter(Boolean)).toHaveLength(1);
      clock.advance(REST_MS - 1);
      expect([await here.mayAsk("a"), await there.mayAsk("a")]).toEqual([false, false]);
    });

    test("retry a provider after five seconds even if Valkey's clock is set back", async () => {
      const { clock: serversClock, valkey } = begin();
      const clock = handClock();
      const [here, there] = [instance({ clock, valkey }), instance({ clock, valkey })];
      serversClock.advance(DAY_MS);
      await fail(here, "a");
      serversClock.advance(-3_600_000);
      await there.refresh();
      clock.advance(REST_MS);
      expect([await here.mayAsk("a"), await here.mayAsk("a"), await there.mayAsk("a")]).toEqual([
        true,
        false,
        false,
      ]);
    });

    test("use a provider that the other instance found healthy, before reading its changes", async () => {
      const { clock, here, there } = started();
      await fail(here, "a");
      await there.refresh();
      clock.advance(REST_MS);
      expect(await there.mayAsk("a")).toBe(true);
      await there.note("a", "well");
      expect([await here.mayAsk("a"), await here.mayAsk("a")]).toEqual([true, true]);
      expect(here.healthOf("a")?.status).toBe("up");
    });

    test("know the health of a profile that only the other instance has called, and since when", async () => {
      const { clock, here, there } = started();
      const downAt = clock.now();
      await fail(here, "a");
      clock.advance(500);
      await there.refresh();
      expect(there.healthOf("a")).toEqual({ status: "down", since: downAt });
      expect(there.count()).toEqual({ down: 1, degraded: 0 });
      clock.advance(REST_MS);
      await here.mayAsk("a");
      await here.note("a", "well");
      await there.refresh();
      expect(there.healthOf("a")).toEqual({ status: "up", since: clock.now() });
      expect(await there.mayAsk("a")).toBe(true);
    });

    test("a profile that one instance has forgotten is forgotten by the other, and its failures count from zero", async () => {
      const { here, there } = started();
      await fail(here, "a");
      await there.refresh();
      await there.forget("a");
      await here.refresh();
      expect([here.healthOf("a"), there.healthOf("a")]).toEqual([undefined, undefined]);
      await fail(here, "a", 4);
      expect(here.healthOf("a")?.status).toBe("degraded");
    });

    test("forget profiles without requests for thirty days, and keep those with requests", async () => {
      const { clock, here, there } = started();
      await fail(here, "a");
      await fail(here, "b");
      for (let day = 0; day <= 31; day++) {
        await here.refresh();
        await there.refresh();
        expect(there.healthOf("b")?.status).toBe("down");
        clock.advance(DAY_MS);
        expect(await here.mayAsk("b")).toBe(true);
        await fail(here, "b", 1);
      }
      await here.refresh();
      await there.refresh();
      expect([here.healthOf("a"), there.healthOf("a")]).toEqual([undefined, undefined]);
    });

    test("keep nothing in Valkey of a profile that has been healthy, or forgotten, for thirty days", async () => {
      const { clock, valkey } = begin();
      const here = instance({ clock, valkey });
      const kept = () => valkey.run(KEPT, "identity-providers", []);
      await fail(here, "a");
      await here.note("a", "well");
      await fail(here, "b", 1);
      await here.forget("b");
      expect(await kept()).toEqual([2, 2]);
      clock.advance(31 * DAY_MS);
      await here.refresh();
      expect(await kept()).toEqual([0, 0]);
    });

    test("read only the changes, a thousand and more at once", async () => {
      const { here, there } = started();
      const ids = Array.from({ length: 1100 }, (_, index) => `p${index}`);
      await Promise.all(ids.map((id) => fail(here, id, 1)));
      await there.refresh();
      expect(there.count()).toEqual({ down: 0, degraded: 1100 });
      const before = there.asked.length;
      await here.note("p7", "well");
      await there.refresh();
      expect(there.count()).toEqual({ down: 0, degraded: 1099 });
      expect(there.asked.length - before).toBeLessThanOrEqual(1);
    });
  });
});
