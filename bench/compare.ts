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
  const { contestants, options, progress } = deps;
  const { warmSeconds, roundSeconds, halfLoadSeconds, part } = options;
  const runners: Runner[] = [];
  for (const contestant of whoTakesPart(workload, engine, options))
    runners.push(await contestants.get(contestant, engine));
  const tell = ({ target }: Runner, what: string) =>
    progress.step(`${workload.name}, ${engine}: ${target.contestant}, ${what}`);

  const counts = new Map<Runner, number>();
  const rounds = new Map<Runner, Round[]>(runners.map((runner) => [runner, []]));
  for (const runner of runners) {
    tell(runner, "warm-up");
    const first = await measureRound(deps, runner, workload, { count: FIRST_TRY });
    const count = countFor(workload, perSecond(first), { seconds: warmSeconds, part });
    const warm = await measureRound(deps, runner, workload, { count });
    counts.set(runner, countFor(workload, perSecond(warm), { seconds: roundSeconds, part }));
  }
  for (let round = 0; round < options.rounds; round++) {
    for (const runner of inTurn(runners, round)) {
      tell(runner, `round ${round + 1}`);
      const count = counts.get(runner) as number;
      rounds.get(runner)?.push(await measureRound(deps, runner, workload, { count }));
    }
  }
  const [us] = rounds.values() as Iterable<Round[]> as [Round[]];
  const standings: Standing[] = [];
  for (const runner of runners) {
    tell(runner, "half load");
    const own = rounds.get(runner) as Round[];
    const found = figureOf(own.map(perSecond));
    const pace = found.median / 2;
    const half = await measureRound(deps, runner, workload, {
      count: countFor(workload, pace, { seconds: halfLoadSeconds, part }),
      perSecond: pace,
    });
    standings.push({
      contestant: runner.target.contestant,
      cpuUs: figureOf(own.map(({ cpuUs }) => cpuUs)),
      ...(engine === "postgres" && { databaseUs: figureOf(own.map(({ databaseUs }) => databaseUs)) }),
      perSecond: found,
      share: figureOf(own.map(({ cpuUs }, round) => cpuUs / (us[round] as Round).cpuUs)),
      halfLoad: { perSecond: pace, p50Us: half.p50Us, p99Us: half.p99Us },
    });
  }
  const { name, means, goal } = workload;
  return {
    workload: name,
    means,
    engine,
    standings,
    ...(goal && takesPart(goal.against, engine) && { goal }),
  };
}

/** Whoever comes second may find warmer caches, so everybody comes first in turn. */
const inTurn = <T>(all: readonly T[], round: number): T[] => {
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
};
