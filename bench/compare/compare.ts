import { figureOf, inTurn } from "../measure/figures.ts";
import {
  countFor,
  type Instruments,
  measureRound,
  perSecond,
  type Round,
  type Runner,
} from "../measure/measure.ts";
import type { Progress } from "../measure/progress.ts";
import type { Comparison, Standing } from "../report/results.ts";
import type { Databases } from "../servers/databases.ts";
import type { Contestant, Engine, Workload } from "../workloads/workload.ts";
import { type Contestants, takesPart } from "./contestants.ts";
import type { Options } from "./options.ts";

type Deps = Instruments & {
  databases: Pick<Databases, "analyze">;
  contestants: Contestants;
  options: Options;
  progress: Progress;
};

export const stepsOf = (workload: Workload, engine: Engine, options: Options): number =>
  contestantsOf(workload, engine, options).length * (2 * options.rounds + 1);

function contestantsOf({ others }: Workload, engine: Engine, { beside }: Options): Contestant[] {
  const all: Contestant[] = [
    "latchkey",
    ...(beside === undefined ? [] : (["before"] as const)),
    "limit",
    ...others,
  ];
  return all.filter((contestant) => takesPart(contestant, engine));
}

/** A contestant in one comparison. `count` operations make a round. */
type Entrant = { runner: Runner; show(what: string): void; count: number; rounds: Round[]; atHalf: Round[] };

/**
 * Compares all contestants in one workload: warms each one up, then measures them by turns at full load, then by turns
 * at half of the pace that each has reached, for latencies without a queue.
 */
export async function compare(deps: Deps, workload: Workload, engine: Engine): Promise<Comparison> {
  const { options, contestants, progress } = deps;
  const entrants: Entrant[] = [];
  for (const contestant of contestantsOf(workload, engine, options)) {
    const runner = await contestants.get(contestant, engine);
    const show = (what: string) => progress.step(`${workload.name}, ${engine}: ${contestant}, ${what}`);
    entrants.push({ runner, show, count: 0, rounds: [], atHalf: [] });
  }
  for (const entrant of entrants) await warmUp(deps, workload, entrant);
  await deps.databases.analyze();
  for (let round = 0; round < options.rounds; round++)
    for (const { runner, show, count, rounds } of inTurn(entrants, round)) {
      show(`round ${round + 1}`);
      rounds.push(await measureRound(deps, runner, workload, { count }));
    }
  for (let round = 0; round < options.rounds; round++)
    for (const entrant of inTurn(entrants, round)) {
      entrant.show(`half load, round ${round + 1}`);
      entrant.atHalf.push(await measureAtHalfLoad(deps, workload, entrant));
    }
  const { name, means, goals = [] } = workload;
  const [latchkey] = entrants as [Entrant, ...Entrant[]];
  const all = entrants.flatMap(({ rounds, atHalf }) => [...rounds, ...atHalf]);
  return {
    workload: name,
    means,
    engine,
    standings: entrants.map((entrant) => standingOf(entrant, latchkey, engine)),
    goals: goals.filter(({ against }) => takesPart(against, engine)),
    repeated: all.reduce((sum, round) => sum + round.repeated, 0),
  };
}

function standingOf({ runner, rounds, atHalf }: Entrant, latchkey: Entrant, engine: Engine): Standing {
  const figure = (of: (round: Round, index: number) => number) => figureOf(rounds.map(of));
  return {
    contestant: runner.target.contestant,
    cpuUs: figure(({ cpuUs }) => cpuUs),
    ...(engine === "postgres" && { databaseUs: figure(({ databaseUs }) => databaseUs) }),
    perSecond: figure(perSecond),
    share: figure(({ cpuUs }, round) => cpuUs / (latchkey.rounds[round] as Round).cpuUs),
    halfLoad: {
      p50Us: figureOf(atHalf.map(({ p50Us }) => p50Us)).median,
      p99Us: figureOf(atHalf.map(({ p99Us }) => p99Us)).median,
      p99OfP50: figureOf(atHalf.map(({ p50Us, p99Us }) => p99Us / p50Us)),
    },
  };
}

const FIRST_COUNT = 30;

/** A round that costs more than this part of the cheapest round so far shows no progress. */
const SETTLED = 0.95;

/** A slow workload gets more seconds, up to the maximum, because V8 compiles a function after a number of calls. */
const WARM_OPERATIONS = 600;
const WARM_SECONDS_AT_MOST = 4;

/**
 * V8 interprets new code and compiles a function after some thousand calls; a service runs for weeks. So the warm-up
 * ends when two rounds in a row show no progress, or after `warmRounds`.
 */
async function warmUp(deps: Deps, workload: Workload, entrant: Entrant): Promise<void> {
  const { warmRounds, warmSeconds, roundSeconds, part } = deps.options;
  entrant.show("warm-up");
  let last = await measureRound(deps, entrant.runner, workload, { count: FIRST_COUNT });
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

/** p99 needs at least a hundred operations. */
const AT_LEAST_TIMED = 100;

function measureAtHalfLoad(deps: Deps, workload: Workload, { runner, rounds }: Entrant): Promise<Round> {
  const { halfLoadSeconds, part } = deps.options;
  const pace = figureOf(rounds.map(perSecond)).median / 2;
  const count = countFor(workload, pace, { seconds: halfLoadSeconds, part, atLeast: AT_LEAST_TIMED });
  return measureRound(deps, runner, workload, { count, perSecond: pace });
}
