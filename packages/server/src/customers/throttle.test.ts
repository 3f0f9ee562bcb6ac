import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { ACCOUNT, type Attempt, createSignInThrottle, FAMILIAR_MS, PAIR, SOURCE } from "./throttle.ts";

const ADA: Attempt = {
  storeId: "store",
  emailKey: "ada@shop.example",
  source: "198.51.100.1",
  isBackOffice: false,
};
const from = (source: number | string, attempt = ADA): Attempt => ({ ...attempt, source: `${source}` });
const at = (emailKey: number | string, attempt = ADA): Attempt => ({ ...attempt, emailKey: `${emailKey}` });

function build() {
  const clock = handClock();
  const throttle = createSignInThrottle({ clock });
  /** How many of so many attempts, none of which gets an answer in between, are let in. */
  const letIn = (count: number, attempt: (index: number) => Attempt): number =>
    Array.from({ length: count }, (_, index) => throttle.check(attempt(index))).filter(
      (wait) => wait === undefined,
    ).length;
  const signIn = (attempt: Attempt): void => {
    expect(throttle.check(attempt)).toBeUndefined();
    throttle.succeeded(attempt);
  };
  return { clock, throttle, letIn, signIn };
}

describe("one source at one account", () => {
  test("has five attempts, then one every ten seconds, and is told how long to wait", () => {
    const { clock, throttle, letIn } = build();
    expect(letIn(20, () => ADA)).toBe(5);
    expect(throttle.check(ADA)).toBe(10);
    clock.advance(9000);
    expect(throttle.check(ADA)).toBe(1);
    clock.advance(1000);
    expect(letIn(5, () => ADA)).toBe(1);
    clock.advance(50_000);
    expect(letIn(20, () => ADA)).toBe(5);
  });

  test("pays before the answer is known: a burst of guesses at once is no more than five", () => {
    const { letIn } = build();
    expect(letIn(1000, () => ADA)).toBe(PAIR.burst);
  });

  test("has all of its attempts again after a success", () => {
    const { throttle, letIn, signIn } = build();
    letIn(4, () => ADA);
    signIn(ADA);
    expect(letIn(20, () => ADA)).toBe(5);
    expect(throttle.check(ADA)).toBeDefined();
  });

  test("gets back what was never answered, and only that", () => {
    const { throttle, letIn } = build();
    for (let i = 0; i < 100; i++) {
      expect(throttle.check(ADA)).toBeUndefined();
      throttle.abandoned(ADA);
    }
    expect(letIn(20, () => ADA)).toBe(5);
    throttle.abandoned(ADA);
    expect(letIn(20, () => ADA)).toBe(1);
  });

  test("takes nothing from another account, source or store", () => {
    const { throttle, letIn } = build();
    letIn(20, () => ADA);
    for (const other of [at("bea@shop.example"), from("198.51.100.2"), { ...ADA, storeId: "other" }])
      expect(throttle.check(other)).toBeUndefined();
  });

  test("that is refused pays nothing elsewhere", () => {
    const { letIn } = build();
    letIn(1000, () => ADA);
    expect(letIn(1000, (index) => at(index))).toBe(SOURCE.burst - PAIR.burst);
    expect(letIn(1000, (index) => from(index))).toBe(ACCOUNT.burst - PAIR.burst);
  });
});

describe("one source at many accounts", () => {
  test("has a hundred failures, then five a second", () => {
    const { clock, throttle, letIn } = build();
    expect(letIn(1000, (index) => at(`a${index}`))).toBe(100);
    expect(throttle.check(at("one more"))).toBe(1);
    clock.advance(1000);
    expect(letIn(1000, (index) => at(`b${index}`))).toBe(5);
  });

  test("has as many successes as it likes", () => {
    const { signIn } = build();
    for (let i = 0; i < 1000; i++) signIn(at(i));
  });

  test("is the store's own server without limits of its own: one shopper's mistakes there are not another's", () => {
    const { letIn } = build();
    const backOffice = { ...ADA, isBackOffice: true };
    expect(letIn(1000, (index) => at(index, backOffice))).toBe(1000);
    expect(letIn(1000, () => backOffice)).toBe(ACCOUNT.burst);
    expect(letIn(1000, (index) => from(index, backOffice))).toBe(0);
  });
});

describe("one account from many sources", () => {
  test("has fifty failures, then one a second", () => {
    const { clock, throttle, letIn } = build();
    expect(letIn(1000, (index) => from(`a${index}`))).toBe(50);
    expect(throttle.check(from("one more"))).toBe(1);
    clock.advance(1000);
    expect(letIn(1000, (index) => from(`b${index}`))).toBe(1);
  });

  test("lets its owner in from where they signed in before, however many guess", () => {
    const { clock, throttle, letIn, signIn } = build();
    signIn(ADA);
    for (let day = 0; day < 29; day++) {
      letIn(200, (index) => from(`${day}.${index}`));
      expect(throttle.check(from("stranger"))).toBeDefined();
      signIn(ADA);
      clock.advance(86_400_000);
    }
  });

  test("knows such a source for thirty days, and only at that account", () => {
    const { clock, throttle, letIn, signIn } = build();
    signIn(ADA);
    clock.advance(FAMILIAR_MS - 1);
    letIn(200, (index) => from(`a${index}`));
    expect(throttle.check(ADA)).toBeUndefined();
    clock.advance(1);
    expect(throttle.check(ADA)).toBe(1);

    const bea = at("bea@shop.example");
    letIn(200, (index) => from(`b${index}`, bea));
    expect(throttle.check(bea)).toBe(1);
  });

  test("such a source still has only five attempts", () => {
    const { letIn, signIn } = build();
    signIn(ADA);
    expect(letIn(1000, () => ADA)).toBe(PAIR.burst);
  });

  test("an owner who signs in from a known source gives no attempts away to others", () => {
    const { letIn, signIn } = build();
    signIn(ADA);
    letIn(200, (index) => from(`a${index}`));
    for (let i = 0; i < 100; i++) signIn(ADA);
    expect(letIn(200, (index) => from(`b${index}`))).toBe(0);
  });

  test("lets everybody try again as time passes: nothing is locked for good", () => {
    const { clock, throttle, letIn } = build();
    letIn(1000, (index) => from(index));
    clock.advance(1000);
    expect(throttle.check(from("new phone"))).toBeUndefined();
    clock.advance(50_000);
    expect(letIn(1000, (index) => from(index))).toBe(50);
  });
});

const step = fc.record({
  gapMs: fc.nat(20_000),
  emailKey: fc.constantFrom("a", "b"),
  source: fc.constantFrom("1", "2", "3"),
  isBackOffice: fc.boolean(),
  guesses: fc.nat(12),
  outcome: fc.constantFrom("failed", "succeeded", "abandoned"),
});

describe("for any sequence of attempts", () => {
  test("no source fails at one account more often than its burst and its rate, between two successes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { clock, throttle } = build();
        const since = new Map<string, { ms: number; failures: number }>();
        for (const { gapMs, guesses, outcome, ...who } of steps) {
          clock.advance(gapMs);
          const attempt = { storeId: "s", ...who, isBackOffice: false };
          const key = `${who.emailKey} ${who.source}`;
          const seen = since.get(key) ?? { ms: clock.monotonicMs(), failures: 0 };
          since.set(key, seen);
          for (let i = 0; i < guesses; i++) {
            if (throttle.check(attempt) !== undefined) continue;
            if (outcome === "failed") seen.failures++;
            if (outcome === "abandoned") throttle.abandoned(attempt);
            if (outcome === "succeeded") {
              throttle.succeeded(attempt);
              since.delete(key);
            }
          }
          const seconds = (clock.monotonicMs() - seen.ms) / 1000;
          expect(seen.failures).toBeLessThanOrEqual(PAIR.burst + PAIR.perSecond * seconds + 1e-3);
        }
      }),
    );
  });

  test("sweeping changes no decision", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const [swept, left] = [build(), build()];
        for (const { gapMs, guesses, outcome, ...who } of steps) {
          for (const { clock } of [swept, left]) clock.advance(gapMs);
          swept.throttle.sweep();
          const attempt = { storeId: "s", ...who };
          for (let i = 0; i < guesses; i++) {
            // Sums of fractions differ by a hair, and so a wait may by a second; who is let in does not.
            const [isLetIn, same] = [swept, left].map(
              ({ throttle }) => throttle.check(attempt) === undefined,
            );
            expect(isLetIn).toBe(same);
            if (!isLetIn || outcome === "failed") continue;
            for (const { throttle } of [swept, left]) throttle[outcome as "succeeded" | "abandoned"](attempt);
          }
        }
      }),
    );
  });
});

describe("memory", () => {
  test("sweeping forgets what has refilled and who has not come for thirty days", () => {
    const { clock, throttle, letIn, signIn } = build();
    letIn(3, () => at("bea@shop.example"));
    signIn(ADA);
    clock.advance(60_000);
    throttle.sweep();
    expect(throttle.size()).toBe(1);
    clock.advance(FAMILIAR_MS);
    throttle.sweep();
    expect(throttle.size()).toBe(0);
  });

  test("is bounded, and what was used longest ago makes room", () => {
    const { throttle, letIn } = build();
    const backOffice = { ...ADA, isBackOffice: true };
    letIn(ACCOUNT.burst, () => at("early", backOffice));
    letIn(1, () => at("early too", backOffice));
    letIn(99_998, (index) => at(index, backOffice));
    letIn(1, () => at("early too", backOffice));
    expect(throttle.size()).toBe(100_000);
    expect(throttle.check(at("early", backOffice))).toBeDefined();
    expect(throttle.check(at("one more", backOffice))).toBeUndefined();
    expect(throttle.size()).toBe(100_000);
    expect(throttle.check(at("early", backOffice))).toBeUndefined();
    expect(letIn(ACCOUNT.burst, () => at("early too", backOffice))).toBe(ACCOUNT.burst - 2);
  });

  test("an attempt that is refused is not remembered, so that it pushes nobody out", () => {
    const { throttle, letIn } = build();
    letIn(100, (index) => at(index));
    const before = throttle.size();
    letIn(1000, (index) => at(`refused ${index}`));
    expect(throttle.size()).toBe(before);
  });
});
