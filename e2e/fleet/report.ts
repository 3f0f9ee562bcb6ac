import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Summary } from "./history.ts";

/** The table of faults at the end of a run: every fault test adds a line, from whichever worker. */
const FILE = fileURLToPath(new URL("../../node_modules/.cache/latchkey-fleet.jsonl", import.meta.url));

type Row = { fault: string } & Summary;

export function report(row: Row): void {
  mkdirSync(dirname(FILE), { recursive: true });
  appendFileSync(FILE, `${JSON.stringify(row)}\n`);
}

const COLUMNS: readonly [string, (row: Row) => string | number][] = [
  ["fault", ({ fault }) => fault],
  ["sent", ({ sent }) => sent],
  ["acknowledged", ({ acknowledged }) => acknowledged],
  ["503 or no answer", ({ failed }) => failed],
  ["lost", ({ lost }) => lost],
  ["refused by floor", ({ refusedByFloor }) => refusedByFloor],
  ["seconds to recover", ({ recoverySeconds }) => recoverySeconds.toFixed(1)],
];

function tableOf(rows: readonly Row[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [
    line(COLUMNS.map(([title]) => title)),
    line(COLUMNS.map((_, index) => (index === 0 ? "---" : "---:"))),
    ...rows.map((row) => line(COLUMNS.map(([, cell]) => cell(row)))),
  ].join("\n");
}

/** For vitest's global set-up: deletes the earlier run's table, and prints the table when all tests are done. */
export default function setup(): () => void {
  rmSync(FILE, { force: true });
  return () => {
    let rows: Row[];
    try {
      rows = readFileSync(FILE, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    } catch {
      // No fault test ran.
      return;
    }
    console.log(`\nFaults of a fleet, under load:\n\n${tableOf(rows)}\n`);
  };
}
