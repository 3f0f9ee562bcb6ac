import { availableParallelism, cpus, totalmem } from "node:os";
import type { Figure } from "../measure/figures.ts";
import type { Memory } from "../memory.ts";
import type { Start } from "../start.ts";
import type { Contestant, Engine, Goal } from "../workloads/workload.ts";

/** The content of results/latest.json. */
export type Results = {
  machine: Machine;
  startedAt: string;
  seconds: number;
  /** The load average of the last 15 minutes at the end of the run, which includes the benchmark itself. */
  load: number;
  isQuick: boolean;
  skipped: string[];
  comparisons: Comparison[];
  start?: Start;
  memory?: Memory;
  growth?: GrowthRow[];
};

export type Comparison = {
  workload: string;
  means: string;
  engine: Engine;
  standings: Standing[];
  goals: Goal[];
  /** The number of rounds that were measured again. */
  repeated: number;
};

export type Standing = {
  contestant: Contestant;
  /** CPU time of the server process for one operation, in microseconds. */
  cpuUs: Figure;
  /** CPU time of PostgreSQL for one operation. */
  databaseUs?: Figure;
  perSecond: Figure;
  /** Operations per CPU second, Latchkey's divided by this contestant's, from rounds that followed each other. */
  share: Figure;
  /** Latencies at half the pace. `p99OfP50` is the ratio of p99 to p50 in each round. */
  halfLoad: { p50Us: number; p99Us: number; p99OfP50: Figure };
};

/** `failed` is the answer of a service that refused the operation with many rows. */
export type GrowthRow = { operation: string; engine: Engine; rows: string } & (
  | { few: GrowthCost; many: GrowthCost; ratio: Figure }
  | { failed: string }
);
/** CPU time of the server, with PostgreSQL's on that engine. */
type GrowthCost = { cpuUs: number; p50Us: number };

type Machine = {
  processor: string;
  cores: number;
  memoryBytes: number;
  node: string;
  platform: string;
};

/** `seconds` and `load` are filled in at the end of the run. */
export const beginResults = (isQuick: boolean): Results => ({
  machine: {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  },
  startedAt: new Date().toISOString(),
  seconds: 0,
  load: 0,
  isQuick,
  skipped: [],
  comparisons: [],
});

/** The goals that do not belong to a workload. */
export const GOALS = {
  p99OfP50: 5,
  readyMs: 400,
  idleBytes: 100e6,
  afterLoad: 1.2,
  growth: 1.15,
} as const;

export const standingOf = ({ standings }: Comparison, contestant: Contestant): Standing | undefined =>
  standings.find((standing) => standing.contestant === contestant);

export const latchkeyIn = (comparison: Comparison): Standing =>
  standingOf(comparison, "latchkey") as Standing;
