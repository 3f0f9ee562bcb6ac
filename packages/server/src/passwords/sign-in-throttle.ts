import { scriptFrom } from "../counters/script.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import {
  ACCOUNT,
  FAMILIAR_MS,
  type GuessRate,
  MAX_ENTRIES,
  namesOf,
  OwnGuesses,
  PAIR,
  type SignInAttempt,
  SOURCE,
} from "./guess-buckets.ts";

/**
 * Limits guesses of passwords. Every attempt pays in advance, and a success is refunded: otherwise a burst of guesses
 * would all be let in while the first of them is still being checked. Every bucket refills, so no account is locked for
 * good.
 *
 * With Valkey all instances count together. While Valkey is away each instance has its part of every rate, at least one
 * attempt. An attempt that Valkey lets in is drawn from this instance's buckets as well, and their state replaces
 * buckets that Valkey has lost. A source that Valkey has lost is familiar again after its next sign-in.
 */
export type SignInThrottle = ReturnType<typeof createSignInThrottle>;

type Deps = { clock: Clock; valkey?: Pick<Valkey, "run" | "instances"> | undefined };

export function createSignInThrottle({ clock, valkey }: Deps) {
  const own = new OwnGuesses(clock, () => valkey?.instances() ?? 1);
  const run = (step: string, attempt: SignInAttempt): Promise<unknown> | undefined => {
    if (!valkey) return undefined;
    const { pair, source, account } = namesOf(attempt);
    const item = [step, attempt.isBackOffice ? 1 : 0, pair, source, account, ...own.mostOf(attempt)];
    return valkey.run(scriptOf(), attempt.storeId, item);
  };
  return {
    /** Draws the cost of the attempt. If there is not enough, draws nothing and returns the seconds to wait. */
    async check(attempt: SignInAttempt): Promise<number | undefined> {
      const wait = await run("check", attempt);
      if (wait === undefined) return own.check(attempt);
      if (wait !== 0) return wait as number;
      own.charge(attempt);
      return undefined;
    },
    async succeeded(attempt: SignInAttempt): Promise<void> {
      own.succeeded(attempt);
      await run("succeeded", attempt);
    },
    /** Refunds an attempt whose password was never checked. */
    async abandoned(attempt: SignInAttempt): Promise<void> {
      own.refund(attempt);
      await run("abandoned", attempt);
    },
    sweep: () => own.sweep(),
    size: () => own.size(),
  };
}

const lua = ({ perSecond, burst }: GuessRate): string => `{ rate = ${perSecond}, burst = ${burst} }`;
const scriptOf = scriptFrom(
  `local PAIR, SOURCE, ACCOUNT = ${lua(PAIR)}, ${lua(SOURCE)}, ${lua(ACCOUNT)}
local FAMILIAR, MAX_FAMILIAR = ${FAMILIAR_MS}, ${MAX_ENTRIES}`,
  new URL("../rate-limit/bucket.lua", import.meta.url),
  new URL("sign-in-throttle.lua", import.meta.url),
);
