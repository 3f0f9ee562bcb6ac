import { resolve } from "node:path";
import { parseArgs } from "node:util";

export const USAGE = `npm run bench                          everything: half an hour to an hour
npm run bench -- --quick               shorter rounds, no growth, no memory after load: about nine minutes
npm run bench -- --only redeem         workloads with all of these words in their name or engine; a comma means "or"
npm run bench -- --only "key sqlite, authorize"
npm run bench -- --beside <checkout>   with the service of another checkout of this repository as "before"
DEX=<program> npm run bench            with dex, which bench/yardsticks/build-dex.sh builds

A run of everything writes bench/results/latest.*; any other run writes bench/results/part.*.`;

export type Options = {
  quick: boolean;
  only: string[][];
  beside: string | undefined;
  rounds: number;
  roundSeconds: number;
  /** The most rounds of a warm-up. */
  warmRounds: number;
  warmSeconds: number;
  halfLoadSeconds: number;
  /** The share of the operations of a workload with a stock. */
  part: number;
};

/** `undefined` for `--help`. */
export function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      beside: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const { quick, beside } = values;
  const only = readOnly(values.only && [values.only, ...positionals].join(" "));
  const times = quick
    ? { rounds: 3, roundSeconds: 0.4, warmRounds: 2, warmSeconds: 0.5, halfLoadSeconds: 0.4, part: 0.4 }
    : { rounds: 5, roundSeconds: 0.7, warmRounds: 6, warmSeconds: 1.5, halfLoadSeconds: 1, part: 1 };
  return { quick, only, beside: beside === undefined ? undefined : resolve(beside), ...times };
}

/** `redeem sqlite, authorize` becomes two lists of words. */
export const readOnly = (text = ""): string[][] =>
  text
    .toLowerCase()
    .split(",")
    .map((part) => part.split(" ").filter((word) => word !== ""))
    .filter((words) => words.length > 0);

/** The name has all words of at least one list. */
export const isWanted = ({ only }: Pick<Options, "only">, name: string): boolean =>
  only.length === 0 || only.some((words) => words.every((word) => name.toLowerCase().includes(word)));
