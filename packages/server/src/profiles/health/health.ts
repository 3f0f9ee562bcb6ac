import { readFileSync } from "node:fs";
import { createScript, type Script } from "../../counters/script.ts";
import type { Valkey } from "../../counters/valkey.ts";
import type { Clock } from "../../lib/clock.ts";

/**
 * How each profile's provider does: after five failures in a row it is down and rests for five seconds, then one request finds
 * out whether it is back, and another five seconds after that one began. Only what has failed is remembered.
 *
 * Where there is Valkey all instances count, rest and find out together. This one is told what it notes, and reads twice a
 * second what others have changed, however many profiles there are; a request to a provider that is well asks nobody. While
 * Valkey is away each instance goes on by itself from what it knew; when it is back, what is there counts.
 */
export type Health = {
  /** Whether it may be asked now. */
  mayAsk(profileId: string): Promise<boolean>;
  note(profileId: string, outcome: Outcome): Promise<void>;
  healthOf(profileId: string): Standing | undefined;
  /** Whether it is down and has rested: somebody may ask it now. */
  hasRested(profileId: string): boolean;
  /** All of those, the longest rested first. */
  rested(): string[];
  /** How many profiles are not well. */
  count(): { down: number; degraded: number };
  forget(profileId: string): Promise<void>;
  /** For who hears late that a profile was moved: where instances share, whoever moved it has told all. */
  forgetAlone(profileId: string): void;
  /** Reads what other instances have changed. */
  refresh(): Promise<void>;
  /** Whose health is another than was last told, of those that were asked here: down at once, anything else when it has stood for a while. */
  untold(): { profileId: string; status: HealthStatus }[];
  told(profileId: string, status: HealthStatus): void;
};

/** `reached`: it could be asked, and no more is known. */
type Outcome = "well" | "failed" | "reached";
export type HealthStatus = "up" | "degraded" | "down";
type Standing = { status: HealthStatus; since: number };
type State = Standing & { failures: number; restUntilMs: number };

export type HealthDeps = {
  clock: Clock;
  valkey?: Pick<Valkey, "run" | "isAway"> | undefined;
  /** Called once for each change of status, by the instance that has noted it; by each while Valkey is away. */
  onHealthChanged?: (profileId: string, status: HealthStatus) => void;
};

const DOWN_AFTER = 5;
/** So that a provider that answers every second time does not fill the log. */
const STANDS_MS = 10_000;
const REST_MS = 5_000;
const FORGOTTEN_AFTER_MS = 30 * 86_400_000;
/** Profiles that are read at once: more keep other callers of Valkey waiting. */
const PAGE = 500;
const SLOT = "identity-providers";

export function createHealth({ clock, valkey, onHealthChanged = () => {} }: HealthDeps): Health {
  const states = new Map<string, State>();
  /** What was told last of each that was asked here; nothing yet after a start, because nobody knows what was told before. */
  const lastTold = new Map<string, HealthStatus | undefined>();
  /** How far the changes of others have been read. */
  let born = "";
  let last = "0";
  let reading: Promise<void> | undefined;

  /** Undefined: this instance decides alone. Afterwards it reads everything anew. */
  async function run(item: readonly (string | number)[]): Promise<unknown> {
    const answer = await valkey?.run(scriptOf(), SLOT, item);
    if (answer === undefined) born = "";
    return answer;
  }

  async function tell(what: Outcome | "ask" | "forget", profileId: string): Promise<boolean | undefined> {
    const answer = await run([what, profileId, clock.now()]);
    if (answer === undefined) return undefined;
    const [mayAsk, hasChanged, ...told] = answer as [number, number, ...Told];
    adopt(profileId, told);
    if (hasChanged === 1) onHealthChanged(profileId, told[0] as HealthStatus);
    return mayAsk === 1;
  }

  function adopt(profileId: string, [status, since, failures, restMs]: Told): void {
    if (status === "gone") states.delete(profileId);
    else states.set(profileId, { status, since, failures, restUntilMs: clock.monotonicMs() + restMs });
  }

  function noteAlone(profileId: string, outcome: Outcome): void {
    const before = states.get(profileId) ?? { status: "up", since: 0, failures: 0, restUntilMs: 0 };
    const failures = failuresAfter(before.failures, outcome);
    const status = outcome === "well" ? "up" : failures >= DOWN_AFTER ? "down" : "degraded";
    const hasChanged = status !== before.status;
    const since = hasChanged ? clock.now() : before.since;
    // From when the last one went to find out, however long it waited for an answer.
    const restUntilMs = hasChanged ? clock.monotonicMs() + REST_MS : before.restUntilMs;
    states.set(profileId, { status, since, failures, restUntilMs });
    if (hasChanged) onHealthChanged(profileId, status);
  }

  function isResting({ status, restUntilMs }: State): boolean {
    return status === "down" && clock.monotonicMs() < restUntilMs;
  }

  async function readChanges(): Promise<void> {
    for (let isMore = true; isMore; ) {
      const answer = await run(["read", born, last]);
      if (answer === undefined) return;
      const [bornThen, lastThen, ...parts] = answer as [string, string, ...unknown[]];
      if (bornThen !== born) states.clear();
      born = bornThen;
      last = lastThen;
      for (let at = 0; at < parts.length; at += 5)
        adopt(parts[at] as string, parts.slice(at + 1, at + 5) as Told);
      isMore = parts.length === 5 * PAGE;
    }
  }

  return {
    async mayAsk(profileId) {
      const state = states.get(profileId);
      if (state?.status !== "down") return true;
      if (isResting(state)) return false;
      const mayAsk = valkey && (await tell("ask", profileId));
      if (mayAsk !== undefined) return mayAsk;
      // Another may have gone to find out while this one waited for Valkey.
      const current = states.get(profileId) ?? state;
      if (isResting(current)) return false;
      // This one finds out; until it has, the others rest on.
      current.restUntilMs = clock.monotonicMs() + REST_MS;
      return true;
    },
    async note(profileId, outcome) {
      if (!lastTold.has(profileId)) lastTold.set(profileId, undefined);
      const status = states.get(profileId)?.status ?? "up";
      // What is no change asks nobody.
      if (outcome === "well" && status === "up") return;
      if (outcome === "reached" && status === "degraded") return;
      const told = valkey && (await tell(outcome, profileId));
      if (told === undefined) noteAlone(profileId, outcome);
    },
    healthOf(profileId) {
      const state = states.get(profileId);
      return state && { status: state.status, since: state.since };
    },
    hasRested(profileId) {
      const state = states.get(profileId);
      return state?.status === "down" && !isResting(state);
    },
    rested: () =>
      [...states]
        .filter(([, state]) => state.status === "down" && !isResting(state))
        .sort(([, a], [, b]) => a.restUntilMs - b.restUntilMs)
        .map(([profileId]) => profileId),
    count() {
      const all = { up: 0, down: 0, degraded: 0 };
      for (const { status } of states.values()) all[status]++;
      return { down: all.down, degraded: all.degraded };
    },
    async forget(profileId) {
      states.delete(profileId);
      lastTold.delete(profileId);
      if (valkey) await tell("forget", profileId);
    },
    forgetAlone(profileId) {
      if (!valkey || valkey.isAway()) states.delete(profileId);
    },
    untold() {
      const standings = [...lastTold].map(([profileId, told]) => {
        const { status, since } = states.get(profileId) ?? { status: "up" as const, since: 0 };
        return { profileId, status, since, told };
      });
      return standings.filter(
        ({ status, since, told }) =>
          status !== told && (status === "down" || clock.now() - since >= STANDS_MS),
      );
    },
    told(profileId, status) {
      if (lastTold.has(profileId)) lastTold.set(profileId, status);
    },
    async refresh() {
      if (!valkey) return;
      reading ??= readChanges().finally(() => {
        reading = undefined;
      });
      await reading;
    },
  };
}

type Told = [status: HealthStatus | "gone", since: number, failures: number, restMs: number];

function failuresAfter(failures: number, outcome: Outcome): number {
  if (outcome === "well") return 0;
  return outcome === "failed" ? failures + 1 : Math.min(failures, DOWN_AFTER - 1);
}

let script: Script | undefined;
/** Read when it is first needed, which is never without Valkey. */
function scriptOf(): Script {
  script ??= createScript(`local DOWN_AFTER, REST = ${DOWN_AFTER}, ${REST_MS}
local FORGOTTEN_AFTER, PAGE = ${FORGOTTEN_AFTER_MS}, ${PAGE}
${readFileSync(new URL("health.lua", import.meta.url), "utf8")}`);
  return script;
}
