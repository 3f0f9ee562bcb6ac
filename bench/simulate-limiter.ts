import { writeFileSync } from "node:fs";
import { plotLimiter } from "./limiter/plot.ts";
import { type Outcome, type Setting, simulate, WAYS, weatherAt } from "./limiter/simulation.ts";

/**
 * Simulates a limit of 1,000 a second on 100 instances for 40 seconds, in four ways of counting: `npm run
 * simulate:limiter`. Prints the figures and writes bench/results/limiter.json and limiter.svg. The same seed gives the
 * same files.
 */
const SETTING: Setting = {
  instances: 100,
  seconds: 40,
  rateLimit: 1000,
  seed: 1,
  weather: [
    { fromMs: 0, name: "good", delayMs: 0.5, loss: 0, isAway: false },
    { fromMs: 10_000, name: "10 ms, 0.5 % lost", delayMs: 10, loss: 0.005, isAway: false },
    { fromMs: 20_000, name: "away", delayMs: 0.5, loss: 0, isAway: true },
    { fromMs: 30_000, name: "back", delayMs: 0.5, loss: 0, isAway: false },
  ],
};

/** The rows of each table, by name. */
export type LimiterFigures = Record<"ways" | "losses", Record<string, Record<string, string | number>>>;

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The values of the seconds with the weather of `fromMs`, without the second in which this weather begins. */
function inWeather(values: number[], fromMs: number): number[] {
  const from = weatherAt(SETTING.weather, fromMs);
  return values.filter(
    (_, second) => second * 1000 >= fromMs + 1000 && weatherAt(SETTING.weather, second * 1000) === from,
  );
}

function rowOf(outcome: Outcome): Record<string, string | number> {
  const served = SETTING.weather.map(({ name, fromMs }) => [
    `served: ${name}`,
    Math.round(mean(inWeather(outcome.served, fromMs))),
  ]);
  return {
    ...Object.fromEntries(served),
    "most in a second": Math.max(...outcome.served),
    "floors refused": outcome.floorsRefused,
    "fairness of floods": mean(outcome.fairness).toFixed(3),
    "small askers served": `${(outcome.smallServed * 100).toFixed(1)} %`,
    "waited, p99 good": `${mean(inWeather(outcome.waitedP99Ms, 0)).toFixed(1)} ms`,
    "waited, most": `${outcome.waitedMostMs.toFixed(0)} ms`,
  };
}

/** Served requests when messages are lost, for the exact way only, ten seconds for each loss rate. */
function lossesOf(): LimiterFigures["losses"] {
  return Object.fromEntries(
    [0, 0.001, 0.005, 0.01, 0.05].map((loss) => {
      const weather = [{ fromMs: 0, name: "lossy", delayMs: 0.5, loss, isAway: false }];
      const { served, floorsRefused } = simulate("exact", { ...SETTING, seconds: 11, weather });
      return [
        `${loss * 100} % lost`,
        { served: Math.round(mean(served.slice(1))), "floors refused": floorsRefused },
      ];
    }),
  );
}

/** `files` has the content of each file of bench/results by name. */
export function limiterResults(): { figures: LimiterFigures; files: Record<string, string> } {
  const outcomes = WAYS.map((way) => simulate(way, SETTING));
  const ways = Object.fromEntries(outcomes.map((outcome) => [outcome.way, rowOf(outcome)]));
  const figures = { ways, losses: lossesOf() };
  const json = `${JSON.stringify({ setting: SETTING, ...figures }, null, 2)}\n`;
  return { figures, files: { "limiter.json": json, "limiter.svg": plotLimiter(SETTING, outcomes) } };
}

if (import.meta.main) {
  const { figures, files } = limiterResults();
  console.table(figures.ways);
  console.table(figures.losses);
  for (const [name, text] of Object.entries(files))
    writeFileSync(new URL(`results/${name}`, import.meta.url), text);
}
