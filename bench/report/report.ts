import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { plotCosts, plotGrowth } from "./plot.ts";
import {
  against,
  type Comparison,
  GOALS,
  type GrowthRow,
  ours,
  type Results,
  type Standing,
} from "./results.ts";
import * as words from "./words.ts";

const FOLDER = new URL("../results/", import.meta.url);

/** The results as data, as tables and as pictures. Says where. */
export function writeResults(results: Results, name: string): string {
  mkdirSync(FOLDER, { recursive: true });
  const write = (end: string, text: string) => writeFileSync(new URL(`${name}${end}`, FOLDER), text);
  write(".json", `${JSON.stringify(results, null, 2)}\n`);
  write(".md", toMarkdown(results));
  if (results.comparisons.length > 0) write("-costs.svg", plotCosts(results.comparisons));
  if (results.growth) write("-growth.svg", plotGrowth(results.growth));
  return `bench/results/${name}.md`;
}

const PAGE = new URL("../../docs/performance.md", import.meta.url);

/** The page about it shows the last full run: pictures, then tables. */
export function updatePage(results: Results): void {
  const pictures = ["costs", ...(results.growth ? ["growth"] : [])].map(
    (what) => `![${what}](../bench/results/latest-${what}.svg)\n`,
  );
  const shown = [...pictures, toMarkdown(results, "###")].join("\n");
  const page = readFileSync(PAGE, "utf8");
  const between = /(<!-- the last run -->\n)[\s\S]*(<!-- until here -->)/;
  writeFileSync(
    PAGE,
    page.replace(between, (_, begin, end) => `${begin}\n${shown}\n${end}`),
  );
}

type Cells = readonly string[];
/** `sum` is what somebody would count in it. */
type Table = { title: string; sum?: string; head: Cells; rows: Cells[] };

const name = ({ workload, engine }: Comparison): Cells => [workload, words.engineNames[engine]];

function costTable({ comparisons }: Results): Table {
  const rows = comparisons.flatMap((comparison) =>
    comparison.standings
      .filter(({ contestant }) => contestant !== "latchkey")
      .map((standing) => {
        const { contestant, share } = standing;
        const goal = comparison.goals.find(({ against }) => against === contestant);
        const judged = goal ? `${goalText(goal.share)}: ${words.verdict(share.median >= goal.share)}` : "";
        const us = costText(ours(comparison));
        const other = costText(standing);
        return [
          ...name(comparison),
          us,
          words.contestantNames[contestant],
          other,
          words.share(share),
          judged,
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

/** With PostgreSQL's own beside it. */
const costText = ({ cpuUs, databaseUs }: Pick<Standing, "cpuUs" | "databaseUs">): string =>
  words.time(cpuUs.median) + (databaseUs && databaseUs.high > 0 ? ` + ${words.time(databaseUs.median)}` : "");

const goalText = (share: number): string => (share < 1 ? `${Math.round(share * 100)} %` : `${share} ×`);

function latencyTable({ comparisons }: Results): Table {
  const rows = comparisons.flatMap((comparison) =>
    comparison.standings.map(({ contestant, perSecond, halfLoad: { p50Us, p99Us, p99OfP50 } }) => {
      const times = words.spread(p99OfP50, words.times);
      const isOurs = contestant === "latchkey";
      const goal = isOurs ? `: ${words.verdict(p99OfP50.median < GOALS.p99OfP50)}` : "";
      const who = words.contestantNames[contestant];
      const rate = words.spread(perSecond, (value) => String(Math.round(value)));
      return [...name(comparison), who, rate, words.time(p50Us), words.time(p99Us), `${times}${goal}`];
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
  const isBelow = ({ halfLoad }: Standing) => halfLoad.p99OfP50.median < GOALS.p99OfP50;
  const all = comparisons.flatMap(({ standings }) => standings);
  const us = all.filter(({ contestant }) => contestant === "latchkey");
  const bare = all.filter(({ contestant }) => contestant === "limit" || contestant === "hono");
  const sum = `Below 5: Latchkey in ${countOf(us, isBelow)} rows, the limit and bare Hono in ${countOf(bare, isBelow)}.`;
  return { title: "Throughput, and latency at half of it", sum, head, rows };
}

function serviceTable({ start, memory, comparisons }: Results): Table {
  const rows: Cells[] = [];
  if (start) {
    const { readyMs, fromSourcesMs, idleBytes } = start;
    const ms = (value: number) => `${Math.round(value)} ms`;
    rows.push([
      "start to ready, as an image has it",
      words.spread(readyMs, ms),
      `below ${GOALS.readyMs} ms: ${words.verdict(readyMs.median < GOALS.readyMs)}`,
    ]);
    rows.push(["start to ready, from the sources", words.spread(fromSourcesMs, ms), ""]);
    const isSmall = idleBytes.median < GOALS.idleBytes;
    rows.push([
      "memory when idle",
      words.spread(idleBytes, words.megabytes),
      `below ${words.megabytes(GOALS.idleBytes)}: ${words.verdict(isSmall)}`,
    ]);
  }
  for (const [way, course] of [
    ["as an image has it", memory?.image],
    ["from the sources", memory?.sources],
  ] as const) {
    if (!course) continue;
    const { idleBytes, afterLoadBytes } = course;
    const isBack = afterLoadBytes <= idleBytes * GOALS.afterLoad;
    const found = `${words.megabytes(afterLoadBytes)}, before it ${words.megabytes(idleBytes)}`;
    rows.push([`memory a minute after load, ${way}`, found, `within 20 %: ${words.verdict(isBack)}`]);
  }
  for (const comparison of comparisons) {
    const bare = against(comparison, "argon2");
    if (!bare) continue;
    const added = ours(comparison).cpuUs.median - bare.cpuUs.median;
    rows.push(["added to Argon2id by e-mail and password", words.time(added), ""]);
  }
  return { title: "The process", head: ["what", "found", "goal"], rows };
}

function growthTable({ growth = [] }: Results): Table {
  const rows = growth.map((row: GrowthRow): Cells => {
    const which = [row.operation, words.engineNames[row.engine]];
    if ("failed" in row) return [...which, "", "", "", `failed: ${row.failed}`, words.verdict(false)];
    const { few, many, ratio } = row;
    const costs = [words.time(few.cpuUs), words.time(many.cpuUs), words.time(many.p50Us)];
    return [
      ...which,
      ...costs,
      words.spread(ratio, words.times),
      words.verdict(ratio.median <= GOALS.growth),
    ];
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
  const isFlat = (row: GrowthRow) => "ratio" in row && row.ratio.median <= GOALS.growth;
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
  const gigabytes = Math.round(memoryBytes / 2 ** 30);
  const left = skipped.map((what) => ` Skipped: ${what}.`).join("");
  const repeated = comparisons.reduce((sum, one) => sum + one.repeated, 0);
  const again =
    repeated === 0
      ? ""
      : ` Measured again, because PostgreSQL did not answer us for a second: ${repeated} of the rounds.`;
  return (
    `${startedAt.slice(0, 10)}, ${isQuick ? "a quick run, " : ""}${seconds} seconds. ${processor}, ${cores} cores, ${gigabytes} GB, ` +
    `${platform}, Node ${node}; load average ${load.toFixed(1)} over a quarter of an hour, of which the benchmark itself makes about two.${left}${again}`
  );
}

function toMarkdown(results: Results, heading = "##"): string {
  const row = (cells: Cells) => `| ${cells.join(" | ")} |`;
  const tables = tablesOf(results).map(({ title, sum, head, rows }) =>
    [
      `${heading} ${title}`,
      "",
      ...(sum ? [sum, ""] : []),
      row(head),
      row(head.map(() => "---")),
      ...rows.map(row),
      "",
    ].join("\n"),
  );
  return [headline(results), "", ...tables].join("\n");
}

/** The same for a terminal: columns as wide as their widest cell. */
export function toText(results: Results): string {
  const tables = tablesOf(results).map(({ title, sum, head, rows }) => {
    const widths = head.map((_, column) =>
      Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
    );
    const line = (cells: Cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join("  ")
        .trimEnd();
    return [title, "", line(head), ...rows.map(line), ...(sum ? [sum] : []), ""].join("\n");
  });
  return [headline(results), "", ...tables].join("\n");
}
