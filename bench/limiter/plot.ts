import { line, picture, text, WIDTH } from "../report/picture.ts";
import type { Outcome, Setting, Way } from "./simulation.ts";

/** The picture has a row for each way of counting: requests served in each second, and the limit. */

const LEFT = 186;
const RIGHT = 186;
const TOP = 92;
const ROW = 118;
const PLOT = 84;

const STYLE = `  .small { font-size: 11px } .weather { fill: #eff2f5 }
  .served { fill: none; stroke: #0969da; stroke-width: 2; stroke-linejoin: round } .under { fill: #0969da; opacity: .12 }
  .over .served { stroke: #bc4c00 } .over .under { fill: #bc4c00 }
  .limit { stroke: #1a7f37; stroke-dasharray: 4 3; stroke-width: 1.5 }`;
const DARK = `    .weather { fill: #161b22 } .limit { stroke: #3fb950 }
    .served { stroke: #4493f8 } .under { fill: #4493f8 } .over .served { stroke: #db6d28 } .over .under { fill: #db6d28 }`;

const NAMES: Record<Way, [string, string]> = {
  exact: ["exact", "one count for all"],
  leased: ["leased", "the pool lent in fives"],
  divided: ["divided", "a hundredth of the pool"],
  independent: ["independent", "each counts for itself"],
};

type Axes = { xAt(second: number): number; yAt(value: number, bottom: number): number };

export function plotLimiter(setting: Setting, outcomes: readonly Outcome[]): string {
  const { instances, rateLimit, seconds } = setting;
  const most = Math.max(...outcomes.flatMap(({ served }) => served));
  const axes: Axes = {
    xAt: (second) => LEFT + (second / seconds) * (WIDTH - LEFT - RIGHT),
    yAt: (value, bottom) => bottom - (value / most) * PLOT,
  };
  const bottomOf = (index: number) => TOP + index * ROW + PLOT + 10;
  const last = bottomOf(outcomes.length - 1);
  const ticks: string[] = [];
  for (let second = 0; second <= seconds; second += 10) {
    const words = second === seconds ? `${second} s` : String(second);
    ticks.push(text(axes.xAt(second), last + 18, words, "quiet small", "middle"));
  }
  return picture({
    label: `Requests served a second by ${instances} instances, four ways of counting`,
    title: `Served a second: a limit of ${rateLimit.toLocaleString("en")} on ${instances} instances`,
    height: TOP + outcomes.length * ROW + 30,
    style: STYLE,
    dark: DARK,
    parts: [
      text(
        16,
        46,
        "Simulated with the service's own limiter. Some 2,500 ask each second; the dashed line is the limit.",
        "quiet",
      ),
      ...plotWeather(setting, axes, last),
      ...outcomes.flatMap((outcome, index) => plotRow(setting, axes, outcome, bottomOf(index))),
      ...ticks,
    ],
  });
}

function plotWeather({ weather, seconds }: Setting, { xAt }: Axes, bottom: number): string[] {
  const parts = [text(LEFT - 10, TOP - 16, "the line to the counter:", "quiet", "end")];
  for (const [index, { fromMs, name }] of weather.entries()) {
    const [from, until] = [xAt(fromMs / 1000), xAt((weather[index + 1]?.fromMs ?? seconds * 1000) / 1000)];
    if (index % 2 === 1)
      parts.push(
        `<rect class="weather" x="${from.toFixed(1)}" y="${TOP - 8}" width="${(until - from).toFixed(1)}" height="${bottom - TOP + 8}"/>`,
      );
    parts.push(text((from + until) / 2, TOP - 16, name, "quiet", "middle"));
  }
  return parts;
}

function plotRow(
  { rateLimit, seconds, weather }: Setting,
  { xAt, yAt }: Axes,
  { way, served, floorsRefused, smallServed, waitedMostMs }: Outcome,
  bottom: number,
): string[] {
  const [name, means] = NAMES[way];
  const points = served.map(
    (value, second) => `${xAt(second + 0.5).toFixed(1)},${yAt(value, bottom).toFixed(1)}`,
  );
  const area = `M${xAt(0.5).toFixed(1)},${bottom} L${points.join(" L")} L${xAt(seconds - 0.5).toFixed(1)},${bottom} Z`;
  const limitY = yAt(rateLimit, bottom);
  const steady = served.slice(1, Math.max(2, (weather[1]?.fromMs ?? seconds * 1000) / 1000));
  const usual = Math.round(steady.reduce((sum, value) => sum + value, 0) / steady.length);
  const right = WIDTH - RIGHT + 14;
  const small = `small askers ${Math.round(smallServed * 100)} %, wait ${Math.round(waitedMostMs)} ms`;
  return [
    `<g${usual > rateLimit * 1.05 ? ' class="over"' : ""}>`,
    text(16, bottom - 50, name, "title"),
    text(16, bottom - 32, means, "quiet"),
    line([LEFT, bottom], [WIDTH - RIGHT, bottom], "axis"),
    `<path class="under" d="${area}"/>`,
    `<polyline class="served" points="${points.join(" ")}"/>`,
    line([LEFT, limitY], [WIDTH - RIGHT, limitY], "limit"),
    text(right, bottom - 66, `${usual.toLocaleString("en")} a second at first`),
    text(right, bottom - 48, `${Math.max(...served).toLocaleString("en")} at most`, "quiet"),
    text(right, bottom - 30, `${floorsRefused} floors refused`, "quiet"),
    text(right, bottom - 12, small, "quiet small"),
    "</g>",
  ];
}
