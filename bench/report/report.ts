import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { markdownTable } from "./page.ts";
import { plotCosts, plotGrowth } from "./plot.ts";
import {
  type Comparison,
  GOALS,
  type GrowthRow,
  latchkeyIn,
  type Results,
  type Standing,
  standingOf,
} from "./results.ts";
import * as words from "./words.ts";

const FOLDER = new URL("../results/", import.meta.url);

/** Prints the results of a run that ends now, and writes them as data, tables and pictures to bench/results. */
export function printResults(results: Results, name: string): void {
  results.seconds = Math.round((Date.now() - Date.parse(results.startedAt)) / 1000);
  results.load = loadavg()[2] as number;
  mkdirSync(FOLDER, { recursive: true });
  const write = (end: string, text: string) => writeFileSync(new URL(`${name}${end}`, FOLDER), text);
  write(".json", `${JSON.stringify(results, null, 2)}\n`);
  write(".md", toMarkdown(results));
  if (results.comparisons.length > 0) write("-costs.svg", plotCosts(results.comparisons));
  if (results.growth) write("-growth.svg", plotGrowth(results.growth));
  console.log(`${toText(results)}\nWritten to bench/results/${name}.md`);
}

type TextRow = readonly string[];
/** `sum` counts the rows that meet the goal. */
type Table = { title: string; sum?: string; head: TextRow; rows: TextRow[] };

const nameOf = ({ workload, engine }: Comparison): TextRow => [workload, words.engineNames[engine]];

function costTable({ comparisons }: Results): Table {
  const rows = comparisons.flatMap((comparison) =>
    comparison.standings
      .filter(({ contestant }) => contestant !== "latchkey")
      .map((standing) => {
        const { contestant, share } = standing;
        const goal = comparison.goals.find(({ against }) => against === contestant);
        return [
          ...nameOf(comparison),
          costText(latchkeyIn(comparison)),
          words.contestantNames[contestant],
          costText(standing),
          words.share(share),
          goal ? `${goalText(goal.share)}: ${words.verdict(share.median >= goal.share)}` : "",
        ];
      }),
  );
  const head = [
    "workload",
    "engine",
    "Latchkey",
    "against",
    "its CPU time",
    "Latchkey's share (spread)",
    "goal",
  ];
  return { title: "CPU time of the server process for one operation (+ of PostgreSQL)", head, rows };
}

const costText = ({ cpuUs, databaseUs }: Standing): string =>
  words.time(cpuUs.median) + (databaseUs && databaseUs.high > 0 ? ` + ${words.time(databaseUs.median)}` : "");

const goalText = (share: number): string => (share < 1 ? `${Math.round(share * 100)} %` : `${share} ×`);

function latencyTable({ comparisons }: Results): Table {
  const isBelow = ({ halfLoad }: Standing) => halfLoad.p99OfP50.median < GOALS.p99OfP50;
  const rows = comparisons.flatMap((comparison) =>
    comparison.standings.map((standing) => {
      const { contestant, perSecond, halfLoad } = standing;
      const judged = contestant === "latchkey" ? `: ${words.verdict(isBelow(standing))}` : "";
      return [
        ...nameOf(comparison),
        words.contestantNames[contestant],
        words.spread(perSecond, (value) => String(Math.round(value))),
        words.time(halfLoad.p50Us),
        words.time(halfLoad.p99Us),
        `${words.spread(halfLoad.p99OfP50, words.times)}${judged}`,
      ];
    }),
  );
  const head = [
    "workload",
    "engine",
    "server",
    "operations a second (spread)",
    "p50 at half load",
    "p99",
    "p99 of p50 (spread), goal: below 5",
  ];
  const all = comparisons.flatMap(({ standings }) => standings);
  const latchkey = all.filter(({ contestant }) => contestant === "latchkey");
  const bare = all.filter(({ contestant }) => contestant === "limit" || contestant === "hono");
  const sum = `Below 5: Latchkey in ${countOf(latchkey, isBelow)} rows, the limit and bare Hono in ${countOf(bare, isBelow)}.`;
  return { title: "Throughput, and latency at half of it", sum, head, rows };
}

function serviceTable({ start, memory, comparisons }: Results): Table {
  const rows: TextRow[] = [];
  if (start) {
    const { readyMs, fromSourcesMs, idleBytes } = start;
    const isQuick = `below ${GOALS.readyMs} ms: ${words.verdict(readyMs.median < GOALS.readyMs)}`;
    const isSmall = `below ${words.megabytes(GOALS.idleBytes)}: ${words.verdict(idleBytes.median < GOALS.idleBytes)}`;
    rows.push(
      ["start to ready, as an image has it", words.spread(readyMs, words.milliseconds), isQuick],
      ["start to ready, from the sources", words.spread(fromSourcesMs, words.milliseconds), ""],
      ["memory when idle", words.spread(idleBytes, words.megabytes), isSmall],
    );
  }
  for (const [form, course] of [
    ["as an image has it", memory?.image],
    ["from the sources", memory?.sources],
  ] as const) {
    if (!course) continue;
    const { idleBytes, afterLoadBytes } = course;
    const isBack = afterLoadBytes <= idleBytes * GOALS.afterLoad;
    const found = `${words.megabytes(afterLoadBytes)}, before it ${words.megabytes(idleBytes)}`;
    rows.push([`memory a minute after load, ${form}`, found, `within 20 %: ${words.verdict(isBack)}`]);
  }
  for (const comparison of comparisons) {
    const bare = standingOf(comparison, "argon2");
    if (!bare) continue;
    const added = latchkeyIn(comparison).cpuUs.median - bare.cpuUs.median;
    rows.push(["added to Argon2id by e-mail and password", words.time(added), ""]);
  }
  return { title: "The process", head: ["what", "found", "goal"], rows };
}

function growthTable({ growth = [] }: Results): Table {
  const isFlat = (row: GrowthRow) => "ratio" in row && row.ratio.median <= GOALS.growth;
  const rows = growth.map((row): TextRow => {
    const cells =
      "failed" in row
        ? ["", "", "", `failed: ${row.failed}`]
        : [
            words.time(row.few.cpuUs),
            words.time(row.many.cpuUs),
            words.time(row.many.p50Us),
            words.spread(row.ratio, words.times),
          ];
    return [row.operation, words.engineNames[row.engine], ...cells, words.verdict(isFlat(row))];
  });
  const head = [
    "operation",
    "engine",
    "CPU with 1,000 rows",
    "with many",
    "p50 with many",
    "ratio (spread)",
    "within 15 %",
  ];
  const sum = `Within 15 %: ${countOf(growth, isFlat)} rows.`;
  return { title: `Growth (${growth[0]?.rows})`, sum, head, rows };
}

const countOf = <T>(all: readonly T[], isCounted: (one: T) => boolean): string =>
  `${all.filter(isCounted).length} of ${all.length}`;

const tablesOf = (results: Results): Table[] =>
  [costTable(results), latencyTable(results), serviceTable(results), growthTable(results)].filter(
    ({ rows }) => rows.length > 0,
  );

function headline({ machine, seconds, startedAt, load, isQuick, skipped, comparisons }: Results): string {
  const { processor, cores, memoryBytes, node, platform } = machine;
  const left = skipped.map((what) => ` Skipped: ${what}.`).join("");
  const repeated = comparisons.reduce((sum, one) => sum + one.repeated, 0);
  const again =
    repeated === 0
      ? ""
      : ` Measured again, because PostgreSQL did not answer within a second: ${repeated} rounds.`;
  return (
    `${startedAt.slice(0, 10)}, ${isQuick ? "a quick run, " : ""}${seconds} seconds. ` +
    `${processor}, ${cores} cores, ${Math.round(memoryBytes / 2 ** 30)} GB, ${platform}, Node ${node}; ` +
    `load average ${load.toFixed(1)} over a quarter of an hour, of which the benchmark itself makes about two.${left}${again}`
  );
}

function toMarkdown(results: Results): string {
  const tables = tablesOf(results).map(({ title, sum, head, rows }) =>
    [`## ${title}`, "", ...(sum ? [sum, ""] : []), markdownTable(head, rows), ""].join("\n"),
  );
  return [headline(results), "", ...tables].join("\n");
}

/** For a terminal: every column is as wide as its widest cell. */
function toText(results: Results): string {
  const tables = tablesOf(results).map(({ title, sum, head, rows }) => {
    const widths = head.map((_, at) => Math.max(...[head, ...rows].map((cells) => cells[at]?.length ?? 0)));
    const line = (cells: TextRow) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] as number))
        .join("  ")
        .trimEnd();
    return [title, "", line(head), ...rows.map(line), ...(sum ? [sum] : []), ""].join("\n");
  });
  return [headline(results), "", ...tables].join("\n");
}
