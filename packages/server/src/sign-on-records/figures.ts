import type { Tables } from "../storage/tables.ts";

/** What is counted of sign-ons: how they ended, why, and how long the identity provider took. A difference may be negative. */
export type Figures = { outcomes: Counts; reasons: Counts; idpMs: Counts };
type Counts = Record<string, number>;

/** Figures of one minute, in which sign-ons began, and of one profile; the profile is empty where none was known. */
export type Tally = { storeId: string; profileId: string; minute: number; figures: Figures };

export type Counted = Pick<
  Tables["sign_ons"],
  "store_id" | "profile_id" | "started_at" | "outcome" | "reason" | "timings" | "counted" | "test"
>;

const MINUTE_MS = 60_000;

const noFigures = (): Figures => ({ outcomes: {}, reasons: {}, idpMs: {} });

/** What changes of records do to the figures, minute by minute. */
export function createTallies() {
  const tallies = new Map<string, Tally>();

  function add(row: Counted, times: number): void {
    // Nobody's sign-on, or none at all.
    if (row.test === 1 || row.outcome === "logout_refused") return;
    const minute = row.started_at - (row.started_at % MINUTE_MS);
    const profileId = row.profile_id ?? "";
    const name = `${row.store_id} ${minute} ${profileId}`;
    const tally = tallies.get(name) ?? { storeId: row.store_id, profileId, minute, figures: noFigures() };
    tallies.set(name, tally);
    const { outcomes, reasons, idpMs } = tally.figures;
    count(outcomes, row.outcome, times);
    if (row.reason !== null) count(reasons, row.reason, times);
    const tookMs = idpMsOf(row.timings);
    if (tookMs !== undefined) count(idpMs, bucketOf(tookMs), times);
  }

  return {
    /** A record that says something else now; without `before`, one that is new. */
    note(before: Counted | undefined, after: Counted): void {
      if (before?.counted) add(before, -1);
      add(after, 1);
    },
    /** Those that change something. */
    all: (): Tally[] => [...tallies.values()].filter(({ figures }) => !isNothing(figures)),
  };
}

/** A name that has come to nothing goes. */
function count(counts: Counts, name: string, times: number): void {
  const now = (counts[name] ?? 0) + times;
  if (now === 0) delete counts[name];
  else counts[name] = now;
}

export function addFigures(into: Figures, figures: Figures): void {
  for (const kind of ["outcomes", "reasons", "idpMs"] as const)
    for (const [name, times] of Object.entries(figures[kind])) count(into[kind], name, times);
}

const isNothing = (figures: Figures): boolean =>
  Object.values(figures).every((counts) => Object.keys(counts).length === 0);

/** Steps in which the identity provider was waited for. The wait for a place there is our own. */
const AT_IDP = ["discovery", "token", "identify"] as const;

/** How long the identity provider took; nothing where it was not asked for tokens. */
function idpMsOf(timings: string): number | undefined {
  const steps: Record<string, number> = JSON.parse(timings);
  return steps.token === undefined
    ? undefined
    : AT_IDP.reduce((total, step) => total + (steps[step] ?? 0), 0);
}

/** Each bucket is a tenth wider than the one before: what it stands for is at most 5 % from what was measured. */
const GROWTH = Math.log(1.1);

export const bucketOf = (ms: number): string =>
  ms < 1 ? "0" : String(1 + Math.round(Math.log(ms) / GROWTH));

const msOf = (bucket: number): number => (bucket === 0 ? 0 : Math.round(Math.exp((bucket - 1) * GROWTH)));

/** So many milliseconds or fewer took that share of them. Null: the provider was never asked. */
export function percentile(idpMs: Counts, share: number): number | null {
  let total = 0;
  for (const bucket in idpMs) total += idpMs[bucket] as number;
  const rank = Math.max(1, Math.ceil(total * share));
  let passed = 0;
  // Names that are whole numbers come in the order of the numbers (ECMAScript, OrdinaryOwnPropertyKeys).
  for (const bucket in idpMs) {
    passed += idpMs[bucket] as number;
    if (passed >= rank) return msOf(Number(bucket));
  }
  return null;
}
