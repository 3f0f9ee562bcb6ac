import type { Contestant } from "../workloads/workload.ts";
import { type Comparison, GOALS, type GrowthRow } from "./results.ts";
import * as words from "./words.ts";

/** Pictures by hand: rectangles, lines and text, light or dark as the reader's screen is. */

const WIDTH = 860;
const LEFT = 250;
const RIGHT = 180;
const ROW = 22;

const STYLE = `<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 } .quiet { fill: #59636e } .page { fill: #ffffff }
  .latchkey { fill: #0969da } .before { fill: #54aeff } .limit { fill: #8c959f } .hono { fill: #bf8700 }
  .argon2 { fill: #bf8700 } .better-auth { fill: #cf222e } .oidc-provider { fill: #8250df }
  .dex-memory, .dex-sqlite { fill: #1b7c83 }
  .sqlite { fill: #0969da } .postgres { fill: #8250df } .goal { stroke: #1a7f37; stroke-dasharray: 4 3 }
  .axis { stroke: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9198a1 } .page { fill: #0d1117 } .axis { stroke: #3d444d }
    .latchkey, .sqlite { fill: #4493f8 } .before { fill: #1f6feb } .limit { fill: #656c76 } .hono, .argon2 { fill: #d29922 }
    .better-auth { fill: #f85149 } .oidc-provider, .postgres { fill: #ab7df8 } .goal { stroke: #3fb950 }
    .dex-memory, .dex-sqlite { fill: #39c5cf }
  }
</style>`;

const escapeText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function picture(title: string, height: number, parts: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeText(title)}">`,
    STYLE,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    text(16, 26, title, "title"),
    ...parts,
    "</svg>\n",
  ].join("\n");
}

const text = (x: number, y: number, words: string, style = "", anchor = "start"): string =>
  `<text x="${x}" y="${y}" class="${style}" text-anchor="${anchor}">${escapeText(words)}</text>`;

const bar = (y: number, width: number, style: string): string =>
  `<rect x="${LEFT}" y="${y}" width="${Math.max(1, width).toFixed(1)}" height="${ROW - 6}" rx="2" class="${style}"/>`;

/** Each workload on a scale of its own: what it costs us beside what it costs the others. */
export function plotCosts(comparisons: readonly Comparison[]): string {
  const parts: string[] = [];
  let y = 48;
  for (const { workload, engine, standings } of comparisons) {
    const most = Math.max(...standings.map(({ cpuUs }) => cpuUs.high));
    parts.push(
      text(16, y + 13, workload, "title"),
      text(16, y + 13 + ROW, words.engineNames[engine], "quiet"),
    );
    for (const { contestant, cpuUs } of standings) {
      const width = (cpuUs.median / most) * (WIDTH - LEFT - RIGHT);
      parts.push(
        bar(y, width, contestant),
        text(LEFT + width + 8, y + 13, costText(contestant, cpuUs.median)),
      );
      y += ROW;
    }
    y += Math.max(0, 2 - standings.length) * ROW + 14;
  }
  return picture("CPU time of the server process for one operation (shorter is better)", y, parts);
}

const costText = (contestant: Contestant, us: number): string =>
  `${words.contestantNames[contestant]} ${words.time(us)}`;

/** How many times as much an operation costs with many rows, on a scale of powers of ten. */
export function plotGrowth(growth: readonly GrowthRow[]): string {
  const rows = growth.filter((row) => "ratio" in row);
  const most = Math.max(10, ...rows.map(({ ratio }) => ratio.median));
  const decades = Math.ceil(Math.log10(most));
  const wide = WIDTH - LEFT - RIGHT;
  const at = (ratio: number) => (Math.log10(Math.max(1, ratio)) / decades) * wide;
  const top = 66;
  const bottom = top + rows.length * ROW;
  const line = (x: number, style: string) =>
    `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${top - 6}" y2="${bottom}" class="${style}"/>`;
  const parts: string[] = [];
  for (let decade = 0; decade <= decades; decade++) {
    const x = LEFT + (decade / decades) * wide;
    parts.push(line(x, "axis"), text(x, top - 12, `${10 ** decade} ×`, "quiet", "middle"));
  }
  for (const [index, { operation, engine, ratio }] of rows.entries()) {
    const y = top + index * ROW;
    const found = `${words.times(ratio.median)} ×  ${words.engineNames[engine]}`;
    parts.push(text(LEFT - 10, y + 13, operation, "", "end"), bar(y, at(ratio.median), engine));
    parts.push(text(LEFT + at(ratio.median) + 8, y + 13, found, "quiet"));
  }
  parts.push(line(LEFT + at(GOALS.growth), "goal"));
  return picture(
    "CPU time of an operation with many rows against 1,000 (dashed: the goal, 1.15 times)",
    bottom + 16,
    parts,
  );
}
