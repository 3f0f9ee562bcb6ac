import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { type Counting, describeCounting } from "../../test/support/counting.ts";
import { ACCOUNT, FAMILIAR_MS, PAIR, type SignInAttempt, SOURCE } from "./guess-buckets.ts";
import { createSignInThrottle } from "./sign-in-throttle.ts";

const ADA: SignInAttempt = {
  storeId: "store",
  emailKey: "ada@shop.example",
  source: "198.51.100.1",
  isBackOffice: false,
};
const from = (source: number | string, attempt = ADA): SignInAttempt => ({ ...attempt, source: `${source}` });
const at = (emailKey: number | string, attempt = ADA): SignInAttempt => ({
  ...attempt,
  emailKey: `${emailKey}`,
});

function build({ clock, valkey }: Counting) {
  const throttle = createSignInThrottle({ clock, valkey });
  /** The number of attempts that are let in, of `count` attempts without an answer in between. */
  const letIn = async (count: number, attempt: (index: number) => SignInAttempt): Promise<number> => {
    const waits = await Promise.all(
      Array.from({ length: count }, (_, index) => throttle.check(attempt(index))),
    );
    return waits.filter((wait) => wait === undefined).length;
  };
  const signIn = async (attempt: SignInAttempt): Promise<void> => {
    expect(await throttle.check(attempt)).toBeUndefined();
    await throttle.succeeded(attempt);
  };
  return { clock, valkey, throttle, letIn, signIn };
}

describeCounting((begin, runs) => {
  describe("one source at one account", () => {
    test("has five attempts, then one every ten seconds, and gets the seconds to wait", async () => {
      const { clock, throttle, letIn } = build(begin());
      expect(await letIn(20, () => ADA)).toBe(5);
      expect(await throttle.check(ADA)).toBe(10);
      clock.advance(9000);
      expect(await throttle.check(ADA)).toBe(1);
      clock.advance(1000);
      expect(await letIn(5, () => ADA)).toBe(1);
      clock.advance(50_000);
      expect(await letIn(20, () => ADA)).toBe(5);
    });

    test("pays before the answer is known: of a burst of guesses only five are let in", async () => {
      const { letIn } = build(begin());
      expect(await letIn(1000, () => ADA)).toBe(PAIR.burst);
    });

    test("has all of its attempts again after a success", async () => {
      const { throttle, letIn, signIn } = build(begin());
      await letIn(4, () => ADA);
      await signIn(ADA);
      expect(await letIn(20, () => ADA)).toBe(5);
      expect(await throttle.check(ADA)).toBeDefined();
    });

    test("an abandoned attempt is refunded; a wrong password is not", async () => {
      const { throttle, letIn } = build(begin());
      for (let i = 0; i < 100; i++) {
        expect(await throttle.check(ADA)).toBeUndefined();
        await throttle.abandoned(ADA);
      }
      expect(await letIn(20, () => ADA)).toBe(5);
      await throttle.abandoned(ADA);
      expect(await letIn(20, () => ADA)).toBe(1);
    });

    test("takes nothing from another account, source or store", async () => {
      const { throttle, letIn } = build(begin());
      await letIn(20, () => ADA);
      for (const other of [at("bea@shop.example"), from("198.51.100.2"), { ...ADA, storeId: "other" }])
        expect(await throttle.check(other)).toBeUndefined();
    });

    test("that has used up one store's attempts has all of another store's", async () => {
      const { throttle, letIn } = build(begin());
      await letIn(1000, (index) => at(index));
      expect(await throttle.check({ ...ADA, storeId: "other" })).toBeUndefined();
    });

    test("gets the longest wait if several buckets are empty", async () => {
      const { throttle, letIn } = build(begin());
      await letIn(20, () => ADA);
      await letIn(1000, (index) => from(index));
      expect(await throttle.check(from("198.51.100.2"))).toBe(1);
      expect(await throttle.check(ADA)).toBe(10);
    });

    test("that is refused draws from no other bucket", async () => {
      const { letIn } = build(begin());
      await letIn(1000, () => ADA);
      expect(await letIn(1000, (index) => at(index))).toBe(SOURCE.burst - PAIR.burst);
      expect(await letIn(1000, (index) => from(index))).toBe(ACCOUNT.burst - PAIR.burst);
    });
  });

  describe("one source at many accounts", () => {
    test("has a hundred failures, then five a second", async () => {
      const { clock, throttle, letIn } = build(begin());
      expect(await letIn(1000, (index) => at(`a${index}`))).toBe(100);
      expect(await throttle.check(at("one more"))).toBe(1);
      clock.advance(1000);
      expect(await letIn(1000, (index) => at(`b${index}`))).toBe(5);
    });

    test("has no limit for successes", async () => {
      const { signIn } = build(begin());
      for (let i = 0; i < 1000; i++) await signIn(at(i));
    });

    test("has no limit by source for the store's own server: a shopper's mistakes there do not count for another shopper", async () => {
      const { letIn } = build(begin());
      const backOffice = { ...ADA, isBackOffice: true };
      expect(await letIn(1000, (index) => at(index, backOffice))).toBe(1000);
      expect(await letIn(1000, () => backOffice)).toBe(ACCOUNT.burst);
      expect(await letIn(1000, (index) => from(index, backOffice))).toBe(0);
    });
  });

  describe("one account from many sources", () => {
    test("has fifty failures, then one a second", async () => {
      const { clock, throttle, letIn } = build(begin());
      expect(await letIn(1000, (index) => from(`a${index}`))).toBe(50);
      expect(await throttle.check(from("one more"))).toBe(1);
      clock.advance(1000);
      expect(await letIn(1000, (index) => from(`b${index}`))).toBe(1);
    });

    test("lets its owner in from a familiar source, however many sources guess", async () => {
      const { clock, throttle, letIn, signIn } = build(begin());
      await signIn(ADA);
      for (let day = 0; day < 29; day++) {
        await letIn(200, (index) => from(`${day}.${index}`));
        expect(await throttle.check(from("stranger"))).toBeDefined();
        await signIn(ADA);
        clock.advance(86_400_000);
      }
    });

    test("a source is familiar for thirty days, and only at that account", async () => {
      const { clock, throttle, letIn, signIn } = build(begin());
      await signIn(ADA);
      clock.advance(FAMILIAR_MS - 1);
      await letIn(200, (index) => from(`a${index}`));
      expect(await throttle.check(ADA)).toBeUndefined();
      clock.advance(1);
      expect(await throttle.check(ADA)).toBe(1);

      const bea = at("bea@shop.example");
      await letIn(200, (index) => from(`b${index}`, bea));
      expect(await throttle.check(bea)).toBe(1);
    });

    test("a familiar source still has only five attempts", async () => {
      const { letIn, signIn } = build(begin());
      await signIn(ADA);
      expect(await letIn(1000, () => ADA)).toBe(PAIR.burst);
    });

    test("a sign-in from a familiar source refunds no attempts of other sources", async () => {
      const { letIn, signIn } = build(begin());
      await signIn(ADA);
      await letIn(200, (index) => from(`a${index}`));
      for (let i = 0; i < 100; i++) await signIn(ADA);
      expect(await letIn(200, (index) => from(`b${index}`))).toBe(0);
    });

    test("has attempts again after some time: nothing is locked for good", async () => {
      const { clock, throttle, letIn } = build(begin());
      await letIn(1000, (index) => from(index));
      clock.advance(1000);
      expect(await throttle.check(from("new phone"))).toBeUndefined();
      clock.advance(50_000);
      expect(await letIn(1000, (index) => from(index))).toBe(50);
    });
  });

  const step = fc.record({
    gapMs: fc.nat(20_000),
    emailKey: fc.constantFrom("a", "b"),
    source: fc.constantFrom("1", "2", "3"),
    isBackOffice: fc.boolean(),
    guesses: fc.nat(12),
    outcome: fc.constantFrom("failed", "succeeded", "abandoned"),
    isElsewhere: fc.boolean(),
  });

  describe("for any sequence of attempts", () => {
    test("no source fails at one account more often than its burst and its rate, between two successes", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const { clock, throttle } = build(begin());
          const since = new Map<string, { ms: number; failures: number }>();
          for (const { gapMs, guesses, outcome, isElsewhere, ...who } of steps) {
            clock.advance(gapMs);
            const attempt = { storeId: "s", ...who, isBackOffice: false };
            const key = `${who.emailKey} ${who.source}`;
            const seen = since.get(key) ?? { ms: clock.monotonicMs(), failures: 0 };
            since.set(key, seen);
            for (let i = 0; i < guesses; i++) {
              if ((await throttle.check(attempt)) !== undefined) continue;
              if (outcome === "failed") seen.failures++;
              if (outcome === "abandoned") await throttle.abandoned(attempt);
              if (outcome === "succeeded") {
                await throttle.succeeded(attempt);
                since.delete(key);
              }
            }
            const seconds = (clock.monotonicMs() - seen.ms) / 1000;
            expect(seen.failures).toBeLessThanOrEqual(PAIR.burst + PAIR.perSecond * seconds + 1e-3);
          }
        }),
        runs(100),
      );
    });

    test("neither sweeping nor a second instance changes a decision", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const { clock, valkey, throttle: here } = build(begin());
          const elsewhere = valkey ? build({ clock, valkey }).throttle : here;
          const model = build({ clock, valkey: undefined }).throttle;
          for (const { gapMs, guesses, outcome, isElsewhere, ...who } of steps) {
            clock.advance(gapMs);
            here.sweep();
            const throttle = isElsewhere ? elsewhere : here;
            const attempt = { storeId: "s", ...who };
            for (let i = 0; i < guesses; i++) {
              // Sums of fractions differ slightly, so a wait can differ by a second. The decision does not differ.
              const isLetIn = (await throttle.check(attempt)) === undefined;
              expect(isLetIn).toBe((await model.check(attempt)) === undefined);
              if (!isLetIn || outcome === "failed") continue;
              for (const one of [throttle, model]) await one[outcome as "succeeded" | "abandoned"](attempt);
            }
          }
        }),
        runs(100),
      );
    });
  });
});

describe("memory", () => {
  test("sweeping drops full buckets, and familiar sources after thirty days", async () => {
    const { clock, throttle, letIn, signIn } = build({ clock: handClock(), valkey: undefined });
    await letIn(3, () => at("bea@shop.example"));
    await signIn(ADA);
    clock.advance(60_000);
    throttle.sweep();
    expect(throttle.size()).toBe(1);
    clock.advance(FAMILIAR_MS);
    throttle.sweep();
    expect(throttle.size()).toBe(0);
  });

  test("is bounded: a full map drops the entry that was used longest ago", async () => {
    const { throttle, letIn } = build({ clock: handClock(), valkey: undefined });
    const backOffice = { ...ADA, isBackOffice: true };
    await letIn(ACCOUNT.burst, () => at("early", backOffice));
    await letIn(1, () => at("early too", backOffice));
    await letIn(99_998, (index) => at(index, backOffice));
    await letIn(1, () => at("early too", backOffice));
    expect(throttle.size()).toBe(100_000);
    expect(await throttle.check(at("early", backOffice))).toBeDefined();
    expect(await throttle.check(at("one more", backOffice))).toBeUndefined();
    expect(throttle.size()).toBe(100_000);
    expect(await throttle.check(at("early", backOffice))).toBeUndefined();
    expect(await letIn(ACCOUNT.burst, () => at("early too", backOffice))).toBe(ACCOUNT.burst - 2);
  });

  test("a refused attempt is not stored, so it evicts no other entry", async () => {
    const { throttle, letIn } = build({ clock: handClock(), valkey: undefined });
    await letIn(100, (index) => at(index));
    const before = throttle.size();
    await letIn(1000, (index) => at(`refused ${index}`));
    expect(throttle.size()).toBe(before);
  });
});
