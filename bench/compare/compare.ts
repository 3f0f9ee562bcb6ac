import {
  countFor,
  figureOf,
  type Instruments,
  measureRound,
  perSecond,
  type Round,
  type Runner,
} from "../measure/measure.ts";
import type { Progress } from "../measure/progress.ts";
import type { Comparison, Standing } from "../report/results.ts";
import type { Places } from "../servers/databases.ts";
import type { Contestant, Engine, Workload } from "../workloads/workload.ts";
import { type Contestants, takesPart } from "./contestants.ts";
import type { Options } from "./options.ts";

type Deps = Instruments & {
  places: Pick<Places, "analyze">;
  contestants: Contestants;
  options: Options;
  progress: Progress;
};

export const stepsOf = (workload: Workload, engine: Engine, options: Options): number =>
  whoTakesPart(workload, engine, options).length * (2 * options.rounds + 1);

function whoTakesPart({ others }: Workload, engine: Engine, { beside }: Options): Contestant[] {
  const all: Contestant[] = [
    "latchkey",
    ...(beside === undefined ? [] : (["before"] as const)),
    "limit",
    ...others,
  ];
  return all.filter((contestant) => takesPart(contestant, engine));
}

const FIRST_TRY = 30;

/**
 * One workload, everybody who takes part: each is warmed up, then they take turns, round by round, each round beginning
 * with another one; then likewise at half the pace that each has shown, for latencies without a queue.
 */
export async function compare(deps: Deps, workload: Workload, engine: Engine): Promise<Comparison> {
  const entrants: Entrant[] = [];
  for (const contestant of whoTakesPart(workload, engine, deps.options)) {
    const runner = await deps.contestants.get(contestant, engine);
    const tell = (what: string) => deps.progress.step(`${workload.name}, ${engine}: ${contestant}, ${what}`);
    entrants.push({ runner, tell, count: 0, rounds: [], atHalf: [] });
  }
  for (const entrant of entrants) await warmUp(deps, workload, entrant);
  await deps.places.analyze();
  for (let round = 0; round < deps.options.rounds; round++) {
    for (const { runner, tell, count, rounds } of inTurn(entrants, round)) {
      tell(`round ${round + 1}`);
      rounds.push(await measureRound(deps, runner, workload, { count }));
    }
  }
  for (let round = 0; round < deps.options.rounds; round++)
    for (const entrant of inTurn(entrants, round)) {
      entrant.tell(`half load, round ${round + 1}`);
      entrant.atHalf.push(await askAtHalfLoad(deps, workload, entrant));
    }
  const us = (entrants[0] as Entrant).rounds;
  const standings = entrants.map(
    ({ runner, rounds, atHalf }): Standing => ({
      contestant: runner.target.contestant,
      cpuUs: figureOf(rounds.map(({ cpuUs }) => cpuUs)),
      ...(engine === "postgres" && { databaseUs: figureOf(rounds.map(({ databaseUs }) => databaseUs)) }),
      perSecond: figureOf(rounds.map(perSecond)),
      share: figureOf(rounds.map(({ cpuUs }, round) => cpuUs / (us[round] as Round).cpuUs)),
      halfLoad: {
        p50Us: figureOf(atHalf.map(({ p50Us }) => p50Us)).median,
        p99Us: figureOf(atHalf.map(({ p99Us }) => p99Us)).median,
        p99OfP50: figureOf(atHalf.map(({ p50Us, p99Us }) => p99Us / p50Us)),
      },
    }),
  );
  const { name, means, goals = [] } = workload;
  const judged = goals.filter(({ against }) => takesPart(against, engine));
  const repeated = entrants
    .flatMap(({ rounds, atHalf }) => [...rounds, ...atHalf])
    .reduce((sum, round) => sum + round.repeated, 0);
  return { workload: name, means, engine, standings, goals: judged, repeated };
}

/** One who takes part in this comparison: how many operations make a round, and what the rounds have shown. */
type Entrant = { runner: Runner; tell(what: string): void; count: number; rounds: Round[]; atHalf: Round[] };

/** A round that costs more than this part of the cheapest before it has gained nothing more. */
const SETTLED = 0.95;

/** What is slow is not made hot by seconds alone; nor is it worth more of them than these. */
const WARM_OPERATIONS = 600;
const WARM_SECONDS_AT_MOST = 4;

/**
 * V8 interprets what is new and compiles what has run some thousand times; a service runs for weeks. So each is warmed up until
 * two rounds one after the other cost no less than those before, or for as many rounds as there is time for.
 */
async function warmUp(deps: Deps, workload: Workload, entrant: Entrant): Promise<void> {
  const { warmRounds, warmSeconds, roundSeconds, part } = deps.options;
  entrant.tell("warm-up");
  let last = await measureRound(deps, entrant.runner, workload, { count: FIRST_TRY });
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0, settled = 0; round < warmRounds && settled < 2; round++) {
    const pace = perSecond(last);
    const seconds = Math.max(warmSeconds, Math.min(WARM_SECONDS_AT_MOST, (WARM_OPERATIONS * part) / pace));
    const count = countFor(workload, pace, { seconds, part });
    last = await measureRound(deps, entrant.runner, workload, { count });
    settled = last.cpuUs > least * SETTLED ? settled + 1 : 0;
    least = Math.min(least, last.cpuUs);
  }
  entrant.count = countFor(workload, perSecond(last), { seconds: roundSeconds, part });
}

/** Fewer have no hundredth part that is slowest. */
const AT_LEAST_TIMED = 100;

function askAtHalfLoad(deps: Deps, workload: Workload, { runner, rounds }: Entrant): Promise<Round> {
  const { halfLoadSeconds, part } = deps.options;
  const pace = figureOf(rounds.map(perSecond)).median / 2;
  const count = countFor(workload, pace, { seconds: halfLoadSeconds, part, atLeast: AT_LEAST_TIMED });
  return measureRound(deps, runner, workload, { count, perSecond: pace });
}

/** Whoever comes second may find warmer caches, so everybody comes first in turn. */
const inTurn = <T>(all: readonly T[], round: number): T[] => {
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
};
