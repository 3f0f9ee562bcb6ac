import type { Contestant } from "../workloads/workload.ts";
import { line, picture, text, WIDTH } from "./picture.ts";
import { type Comparison, GOALS, type GrowthRow } from "./results.ts";
import * as words from "./words.ts";

const LEFT = 250;
const RIGHT = 180;
const ROW = 22;

const STYLE = `  .latchkey { fill: #0969da } .before { fill: #54aeff } .limit { fill: #8c959f } .hono { fill: #bf8700 }
  .argon2 { fill: #bf8700 } .better-auth { fill: #cf222e } .oidc-provider { fill: #8250df }
  .dex-memory, .dex-sqlite { fill: #1b7c83 }
  .sqlite { fill: #0969da } .postgres { fill: #8250df } .goal { stroke: #1a7f37; stroke-dasharray: 4 3 }`;
const DARK = `    .latchkey, .sqlite { fill: #4493f8 } .before { fill: #1f6feb } .limit { fill: #656c76 } .hono, .argon2 { fill: #d29922 }
    .better-auth { fill: #f85149 } .oidc-provider, .postgres { fill: #ab7df8 } .goal { stroke: #3fb950 }
    .dex-memory, .dex-sqlite { fill: #39c5cf }`;

const pictureOf = (title: string, height: number, parts: string[]): string =>
  picture({ label: title, title, height, style: STYLE, dark: DARK, parts });

const bar = (y: number, width: number, style: string): string =>
  `<rect x="${LEFT}" y="${y}" width="${Math.max(1, width).toFixed(1)}" height="${ROW - 6}" rx="2" class="${style}"/>`;

/** CPU time per operation of all contestants. Each workload has its own scale. */
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
  return pictureOf("CPU time of the server process for one operation (shorter is better)", y, parts);
}

const costText = (contestant: Contestant, us: number): string =>
  `${words.contestantNames[contestant]} ${words.time(us)}`;

/** The ratio of the costs with many rows and with 1,000, on a logarithmic scale. */
export function plotGrowth(growth: readonly GrowthRow[]): string {
  const rows = growth.filter((row) => "ratio" in row);
  const most = Math.max(10, ...rows.map(({ ratio }) => ratio.median));
  const decades = Math.ceil(Math.log10(most));
  const wide = WIDTH - LEFT - RIGHT;
  const at = (ratio: number) => (Math.log10(Math.max(1, ratio)) / decades) * wide;
  const top = 66;
  const bottom = top + rows.length * ROW;
  const parts: string[] = [];
  for (let decade = 0; decade <= decades; decade++) {
    const x = LEFT + (decade / decades) * wide;
    parts.push(
      line([x, top - 6], [x, bottom], "axis"),
      text(x, top - 12, `${10 ** decade} ×`, "quiet", "middle"),
    );
  }
  for (const [index, { operation, engine, ratio }] of rows.entries()) {
    const y = top + index * ROW;
    const found = `${words.times(ratio.median)} ×  ${words.engineNames[engine]}`;
    parts.push(text(LEFT - 10, y + 13, operation, "", "end"), bar(y, at(ratio.median), engine));
    parts.push(text(LEFT + at(ratio.median) + 8, y + 13, found, "quiet"));
  }
  const goalX = LEFT + at(GOALS.growth);
  parts.push(line([goalX, top - 6], [goalX, bottom], "goal"));
  return pictureOf(
    "CPU time of an operation with many rows against 1,000 (dashed: the goal, 1.15 times)",
    bottom + 16,
    parts,
  );
}
