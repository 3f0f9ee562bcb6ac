import type { Tables } from "../storage/tables.ts";

/** Counts of sign-ons by outcome, reason and time at the provider. A record that changes may give negative counts. */
export type SignOnFigures = { outcomes: NamedCounts; reasons: NamedCounts; idpMs: NamedCounts };
type NamedCounts = Record<string, number>;

/** Figures of sign-ons at one profile, by one key, that began in one minute. An id is empty if it was not known. */
export type MinuteTally = Omit<Tables["sign_on_tallies_by_key"], "position" | "figures"> & {
  figures: SignOnFigures;
};

export type Counted = Pick<
  Tables["sign_ons"],
  | "store_id"
  | "profile_id"
  | "key_id"
  | "of_members"
  | "started_at"
  | "outcome"
  | "reason"
  | "timings"
  | "counted"
  | "test"
>;

const MINUTE_MS = 60_000;
export const minuteOf = (at: number): number => at - (at % MINUTE_MS);

export const noFigures = (): SignOnFigures => ({ outcomes: {}, reasons: {}, idpMs: {} });

/** Collects the changes that records make to the figures, minute by minute. */
export function createTallies() {
  const tallies = new Map<string, MinuteTally>();

  function tallyOf(row: Counted): MinuteTally {
    const place = {
      store_id: row.store_id,
      profile_id: row.profile_id ?? "",
      key_id: row.key_id ?? "",
      of_members: row.of_members ?? 0,
      minute: minuteOf(row.started_at),
    };
    const name = Object.values(place).join(" ");
    const tally = tallies.get(name) ?? { ...place, figures: noFigures() };
    tallies.set(name, tally);
    return tally;
  }

  function add(row: Counted, times: number): void {
    // A test and a refused logout token are no sign-ons.
    if (row.test === 1 || row.outcome === "logout_refused") return;
    const { outcomes, reasons, idpMs } = tallyOf(row).figures;
    count(outcomes, row.outcome, times);
    if (row.reason !== null) count(reasons, row.reason, times);
    const tookMs = idpMsOf(row.timings);
    if (tookMs !== undefined) count(idpMs, bucketOf(tookMs), times);
  }

  return {
    /** A record that has changed; without `before` a new record. */
    note(before: Counted | undefined, after: Counted): void {
      if (before?.counted) add(before, -1);
      add(after, 1);
    },
    /** The tallies that change a figure. */
    all: (): MinuteTally[] => [...tallies.values()].filter(({ figures }) => !isNothing(figures)),
  };
}

/** A name whose count is zero is deleted. */
function count(counts: NamedCounts, name: string, times: number): void {
  const now = (counts[name] ?? 0) + times;
  if (now === 0) delete counts[name];
  else counts[name] = now;
}

const KINDS = ["outcomes", "reasons", "idpMs"] as const;

/** `times`: -1 subtracts them. */
export function addFigures(into: SignOnFigures, figures: SignOnFigures, times = 1): void {
  for (const kind of KINDS)
    for (const name in figures[kind]) count(into[kind], name, (figures[kind][name] as number) * times);
}

/** Deletes counts below zero: instances of an earlier release subtract from a part what they never added to it. */
export function dropNegative(figures: SignOnFigures): SignOnFigures {
  for (const kind of KINDS)
    for (const name in figures[kind]) if ((figures[kind][name] as number) < 0) delete figures[kind][name];
  return figures;
}

const isNothing = (figures: SignOnFigures): boolean =>
  Object.values(figures).every((counts) => Object.keys(counts).length === 0);

/** The steps that wait for the identity provider. The step `wait` is Latchkey's own queue. */
const AT_IDP = ["discovery", "token", "identify"] as const;

/** The time at the identity provider. Undefined: its token endpoint was not called. */
function idpMsOf(timings: string): number | undefined {
  const steps: Record<string, number> = JSON.parse(timings);
  return steps.token === undefined
    ? undefined
    : AT_IDP.reduce((total, step) => total + (steps[step] ?? 0), 0);
}

/** Each bucket is a tenth wider than the one before, so its value is at most 5 % off. */
const GROWTH = Math.log(1.1);

export const bucketOf = (ms: number): string =>
  ms < 1 ? "0" : String(1 + Math.round(Math.log(ms) / GROWTH));

const msOf = (bucket: number): number => (bucket === 0 ? 0 : Math.round(Math.exp((bucket - 1) * GROWTH)));

/** The time in which this share of sign-ons was done at the provider. Null: the provider was never called. */
export function percentile(idpMs: NamedCounts, share: number): number | null {
  let total = 0;
  for (const bucket in idpMs) total += idpMs[bucket] as number;
  const rank = Math.max(1, Math.ceil(total * share));
  let passed = 0;
  // Integer keys are iterated in ascending order (ECMAScript, OrdinaryOwnPropertyKeys).
  for (const bucket in idpMs) {
    passed += idpMs[bucket] as number;
    if (passed >= rank) return msOf(Number(bucket));
  }
  return null;
}
