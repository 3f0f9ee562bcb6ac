import { type Contestants, takesPart } from "./contestants.ts";
import {
  countFor,
  figureOf,
  type Instruments,
  measureRound,
  perSecond,
  type Round,
  type Runner,
} from "./measure.ts";
import type { Options } from "./options.ts";
import type { Progress } from "./progress.ts";
import type { Comparison, Standing } from "./results.ts";
import type { Contestant, Engine, Workload } from "./workloads/workload.ts";

type Deps = Instruments & { contestants: Contestants; options: Options; progress: Progress };

export const stepsOf = (workload: Workload, engine: Engine, options: Options): number =>
  whoTakesPart(workload, engine, options).length * (options.rounds + 2);

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
 * with another one; then each is asked at half the pace that it has shown, for latencies without a queue.
 */
export async function compare(deps: Deps, workload: Workload, engine: Engine): Promise<Comparison> {
  const entrants: Entrant[] = [];
  for (const contestant of whoTakesPart(workload, engine, deps.options)) {
    const runner = await deps.contestants.get(contestant, engine);
    const tell = (what: string) => deps.progress.step(`${workload.name}, ${engine}: ${contestant}, ${what}`);
    entrants.push({ runner, tell, count: 0, rounds: [] });
  }
  for (const entrant of entrants) await warmUp(deps, workload, entrant);
  for (let round = 0; round < deps.options.rounds; round++) {
    for (const { runner, tell, count, rounds } of inTurn(entrants, round)) {
      tell(`round ${round + 1}`);
      rounds.push(await measureRound(deps, runner, workload, { count }));
    }
  }
  const us = (entrants[0] as Entrant).rounds;
  const standings: Standing[] = [];
  for (const entrant of entrants) {
    const { runner, rounds } = entrant;
    standings.push({
      contestant: runner.target.contestant,
      cpuUs: figureOf(rounds.map(({ cpuUs }) => cpuUs)),
      ...(engine === "postgres" && { databaseUs: figureOf(rounds.map(({ databaseUs }) => databaseUs)) }),
      perSecond: figureOf(rounds.map(perSecond)),
      share: figureOf(rounds.map(({ cpuUs }, round) => cpuUs / (us[round] as Round).cpuUs)),
      halfLoad: await askAtHalfLoad(deps, workload, entrant),
    });
  }
  const { name, means, goal } = workload;
  const reachable = goal && takesPart(goal.against, engine) && { goal };
  return { workload: name, means, engine, standings, ...reachable };
}

/** One who takes part in this comparison: how many operations make a round, and what the rounds have shown. */
type Entrant = { runner: Runner; tell(what: string): void; count: number; rounds: Round[] };

/** A process that has just started interprets what it will compile later, so its first warm-up is longer. */
const warmed = new WeakSet<Runner>();
const FIRST_WARM_UP = 4;

async function warmUp(deps: Deps, workload: Workload, entrant: Entrant): Promise<void> {
  const { warmSeconds, roundSeconds, part } = deps.options;
  entrant.tell("warm-up");
  const first = await measureRound(deps, entrant.runner, workload, { count: FIRST_TRY });
  const seconds = warmSeconds * (warmed.has(entrant.runner) ? 1 : FIRST_WARM_UP);
  warmed.add(entrant.runner);
  const count = countFor(workload, perSecond(first), { seconds, part });
  const warm = await measureRound(deps, entrant.runner, workload, { count });
  entrant.count = countFor(workload, perSecond(warm), { seconds: roundSeconds, part });
}

async function askAtHalfLoad(
  deps: Deps,
  workload: Workload,
  { runner, tell, rounds }: Entrant,
): Promise<Standing["halfLoad"]> {
  const { halfLoadSeconds, part } = deps.options;
  tell("half load");
  const pace = figureOf(rounds.map(perSecond)).median / 2;
  const count = countFor(workload, pace, { seconds: halfLoadSeconds, part });
  const { p50Us, p99Us } = await measureRound(deps, runner, workload, { count, perSecond: pace });
  return { perSecond: pace, p50Us, p99Us };
}

/** Whoever comes second may find warmer caches, so everybody comes first in turn. */
const inTurn = <T>(all: readonly T[], round: number): T[] => {
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
};
