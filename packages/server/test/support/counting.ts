import { afterAll, beforeAll, describe, expect } from "vitest";
import { openValkey, type Valkey } from "../../src/counters/valkey.ts";
import { type HandClock, handClock } from "./clock.ts";
import { silentLog } from "./silent-log.ts";
import { ofRun } from "./test-run.ts";
import { hasValkey, startValkey, type ValkeyServer } from "./valkey-server.ts";

/** A clock that the test sets, and an empty place for the counters of instances. */
export type Counting = { clock: HandClock; valkey: Valkey | undefined };
type Together = Counting & { valkey: Valkey };
/**
 * How often a property is tried: a second of work in process takes half a minute when every decision goes over the
 * network.
 */
type Runs = (inProcess: number) => { numRuns: number };

/** The same rules for the counters of a process and for those that all instances share. */
export function describeCounting(rules: (begin: () => Counting, runs: Runs) => void): void {
  const begin = () => ({ clock: handClock(), valkey: undefined });
  const describeAlone = () => describe("in process", () => rules(begin, (numRuns) => ({ numRuns })));
  const describeShared = () => describeTogether(rules);
  for (const describeOne of ofRun({ short: describeAlone, long: describeShared })) describeOne();
}

/** On one Valkey; the prefix keeps the slots of each test apart. */
export function describeTogether(rules: (begin: () => Together, runs: Runs) => void): void {
  describe.skipIf(!hasValkey)("in Valkey", () => {
    let server: ValkeyServer;
    let valkey: Valkey;
    let clock: HandClock;
    let begun = 0;
    beforeAll(async () => {
      server = await startValkey();
      const nowMs = () => clock.monotonicMs();
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
    const begin = (): Together => {
      clock = handClock();
      const run = ++begun;
      const own: Valkey = {
        ...valkey,
        run: (script, slot, item) => valkey.run(script, `${run} ${slot}`, item),
      };
      return { clock, valkey: own };
    };
    rules(begin, (numRuns) => ({ numRuns: Math.ceil(numRuns / 5) }));
  });
}
