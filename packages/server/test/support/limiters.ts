import { afterAll, beforeAll, describe, expect } from "vitest";
import { openValkey, type Valkey } from "../../src/counters/valkey.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createLimiter, type Draw, type Limiter } from "../../src/rate-limit/limiter.ts";
import { createSharedLimiter } from "../../src/rate-limit/shared-limiter.ts";
import { createUseLog, type UseLog } from "../../src/rate-limit/use-log.ts";
import { silentLog } from "./silent-log.ts";
import { ofRun } from "./test-run.ts";
import { hasValkey, startValkey, type ValkeyServer } from "./valkey-server.ts";

/** Creates an empty limiter that counts by the clock of the test. */
export type MakeLimiter = (deps: { clock: Clock; useLog?: UseLog }) => Limiter;

/** A second of work in process takes half a minute when every decision goes over the network. */
type Runs = (inProcess: number) => { numRuns: number };

export const inProcess: MakeLimiter = ({ clock, useLog = createUseLog() }) =>
  createLimiter({ clock, useLog });

let server: ValkeyServer;
let valkey: Valkey;
let now: Clock;
let made = 0;

/** One Valkey for the file. Each limiter has its own stores in it. */
const inValkey: MakeLimiter = ({ clock, useLog = createUseLog() }) => {
  now = clock;
  const limiter = createSharedLimiter({ valkey, clock, useLog });
  const run = ++made;
  const own = (draw: Draw): Draw => ({ ...draw, storeId: `${run} ${draw.storeId}` });
  return { ...limiter, take: (draw) => limiter.take(own(draw)), look: (draw) => limiter.look(own(draw)) };
};

/** The same rules for both limiters: the one in process, and the one that all instances share. */
export function describeLimiters(rules: (makeLimiter: MakeLimiter, runs: Runs) => void): void {
  const describeInProcess = () => describe("in process", () => rules(inProcess, (numRuns) => ({ numRuns })));
  const describeInValkey = () => describeShared(rules);
  for (const describeOne of ofRun({ short: describeInProcess, long: describeInValkey })) describeOne();
}

function describeShared(rules: (makeLimiter: MakeLimiter, runs: Runs) => void): void {
  describe.skipIf(!hasValkey)("in Valkey", () => {
    beforeAll(async () => {
      server = await startValkey();
      const nowMs = () => now.monotonicMs();
      // A long time limit: these tests are about decisions, not about late answers.
      const options = { urls: [server.url], log: silentLog, answerWithinMs: 60_000 };
      valkey = await openValkey({ ...options, nowMs });
    });
    afterAll(async () => {
      const counts = valkey.counts();
      await valkey.close();
      await server.remove();
      // While Valkey is away each instance decides alone, by the same rules, which would hide an error of the script.
      expect(counts).toMatchObject({ losses: 0, alone: 0 });
    });
    rules(inValkey, (numRuns) => ({ numRuns: Math.ceil(numRuns / 5) }));
  });
}
