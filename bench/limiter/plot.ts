import type { Outcome, Setting, Way } from "./simulation.ts";

/** One row for each way of counting: what was served, second by second, against the limit. Light or dark as the reader's screen is. */

const WIDTH = 860;
const LEFT = 186;
const RIGHT = 186;
const TOP = 92;
const ROW = 118;
const PLOT = 84;

const STYLE = `<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 } .quiet { fill: #59636e } .page { fill: #ffffff } .small { font-size: 11px }
  .served { fill: none; stroke: #0969da; stroke-width: 2; stroke-linejoin: round } .under { fill: #0969da; opacity: .12 }
  .over .served { stroke: #bc4c00 } .over .under { fill: #bc4c00 }
  .limit { stroke: #1a7f37; stroke-dasharray: 4 3; stroke-width: 1.5 } .limit-text { fill: #1a7f37 }
  .axis { stroke: #d1d9e0 } .weather { fill: #eff2f5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9198a1 } .page { fill: #0d1117 } .axis { stroke: #3d444d } .weather { fill: #161b22 }
    .served { stroke: #4493f8 } .under { fill: #4493f8 } .over .served { stroke: #db6d28 } .over .under { fill: #db6d28 }
    .limit { stroke: #3fb950 } .limit-text { fill: #3fb950 }
  }
</style>`;

const NAMES: Record<Way, [string, string]> = {
  exact: ["exact", "one count for all"],
  leased: ["leased", "the pool lent in fives"],
  divided: ["divided", "a hundredth of the pool"],
  independent: ["independent", "each counts for itself"],
};

const escapeText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const text = (x: number, y: number, words: string, style = "", anchor = "start"): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${style}" text-anchor="${anchor}">${escapeText(words)}</text>`;

export function plotLimiter(setting: Setting, outcomes: readonly Outcome[]): string {
  const { instances, rateLimit, seconds, weather } = setting;
  const height = TOP + outcomes.length * ROW + 30;
  const wide = WIDTH - LEFT - RIGHT;
  const most = Math.max(...outcomes.flatMap(({ served }) => served));
  const xAt = (second: number) => LEFT + (second / seconds) * wide;
  const yAt = (value: number, bottom: number) => bottom - (value / most) * PLOT;
  const bottomOf = (index: number) => TOP + index * ROW + PLOT + 10;
  const last = bottomOf(outcomes.length - 1);
  const parts: string[] = [];
  for (const [index, { fromMs, name }] of weather.entries()) {
    const [from, until] = [xAt(fromMs / 1000), xAt((weather[index + 1]?.fromMs ?? seconds * 1000) / 1000)];
    if (index % 2 === 1)
      parts.push(
        `<rect class="weather" x="${from.toFixed(1)}" y="${TOP - 8}" width="${(until - from).toFixed(1)}" height="${last - TOP + 8}"/>`,
      );
    parts.push(text((from + until) / 2, TOP - 16, name, "quiet", "middle"));
  }
  parts.push(text(LEFT - 10, TOP - 16, "the line to the counter:", "quiet", "end"));
  for (const [index, outcome] of outcomes.entries()) parts.push(rowOf(outcome, bottomOf(index)));
  for (let second = 0; second <= seconds; second += 10)
    parts.push(
      text(
        xAt(second),
        last + 18,
        second === seconds ? `${second} s` : String(second),
        "quiet small",
        "middle",
      ),
    );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Requests served a second by ${instances} instances, four ways of counting">`,
    STYLE,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    text(
      16,
      26,
      `Served a second: a limit of ${rateLimit.toLocaleString("en")} on ${instances} instances`,
      "title",
    ),
    text(
      16,
      46,
      "Simulated with the service's own limiter. Some 2,500 ask each second; the dashed line is the limit.",
      "quiet",
    ),
    ...parts,
    "</svg>\n",
  ].join("\n");

  function rowOf({ way, served, floorsRefused, smallServed, waitedMostMs }: Outcome, bottom: number): string {
    const [name, means] = NAMES[way];
    const points = served.map(
      (value, second) => `${xAt(second + 0.5).toFixed(1)},${yAt(value, bottom).toFixed(1)}`,
    );
    const area = `M${xAt(0.5).toFixed(1)},${bottom} L${points.join(" L")} L${xAt(seconds - 0.5).toFixed(1)},${bottom} Z`;
    const limitY = yAt(rateLimit, bottom).toFixed(1);
    const steady = served.slice(1, Math.max(2, (weather[1]?.fromMs ?? seconds * 1000) / 1000));
    const usual = Math.round(steady.reduce((sum, value) => sum + value, 0) / steady.length);
    const right = WIDTH - RIGHT + 14;
    return [
      `<g${usual > rateLimit * 1.05 ? ' class="over"' : ""}>`,
      text(16, bottom - 50, name, "title"),
      text(16, bottom - 32, means, "quiet"),
      `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${bottom}" y2="${bottom}"/>`,
      `<path class="under" d="${area}"/>`,
      `<polyline class="served" points="${points.join(" ")}"/>`,
      `<line class="limit" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${limitY}" y2="${limitY}"/>`,
      text(right, bottom - 66, `${usual.toLocaleString("en")} a second at first`),
      text(right, bottom - 48, `${Math.max(...served).toLocaleString("en")} at most`, "quiet"),
      text(right, bottom - 30, `${floorsRefused} floors refused`, "quiet"),
      text(
        right,
        bottom - 12,
        `small askers ${Math.round(smallServed * 100)} %, wait ${Math.round(waitedMostMs)} ms`,
        "quiet small",
      ),
      "</g>",
    ].join("\n");
  }
}
