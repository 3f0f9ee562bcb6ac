import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import type { Figure } from "../measure/measure.ts";
import type { Memory } from "../memory.ts";
import type { Start } from "../start.ts";
import type { Contestant, Engine, Goal } from "../workloads/workload.ts";

/** What a run found, as it is written to results/latest.json. */
export type Results = {
  machine: Machine;
  startedAt: string;
  seconds: number;
  /** How busy the machine was on average over the last quarter of an hour, when it ended: ours and everybody's. */
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
  /** How many rounds were measured again. */
  repeated: number;
};

export type Standing = {
  contestant: Contestant;
  /** CPU time of the server process for one operation, in microseconds. */
  cpuUs: Figure;
  /** What PostgreSQL itself has used for it. */
  databaseUs?: Figure;
  perSecond: Figure;
  /** Ours against this one's, in operations per CPU second, from rounds that stood side by side. */
  share: Figure;
  /** At half the pace. Of each round how many times its p50 its p99 is. */
  halfLoad: { p50Us: number; p99Us: number; p99OfP50: Figure };
};

/** `failed`: it was refused with many rows, with these words. */
export type GrowthRow = { operation: string; engine: Engine; rows: string } & (
  | { few: Cost; many: Cost; ratio: Figure }
  | { failed: string }
);
/** CPU time of the server, and of PostgreSQL where that is the engine. */
type Cost = { cpuUs: number; p50Us: number };

type Machine = {
  processor: string;
  cores: number;
  memoryBytes: number;
  node: string;
  platform: string;
};

export const describeMachine = (): Machine => ({
  processor: cpus()[0]?.model.trim() ?? "unknown",
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
});

export const loadSoFar = (): number => loadavg()[2] as number;

/** The goals that do not belong to one workload. */
export const GOALS = {
  p99OfP50: 5,
  readyMs: 400,
  idleBytes: 100e6,
  afterLoad: 1.2,
  growth: 1.15,
} as const;

export const ours = ({ standings }: Comparison): Standing =>
  standings.find(({ contestant }) => contestant === "latchkey") as Standing;

export const against = ({ standings }: Comparison, other: Contestant): Standing | undefined =>
  standings.find(({ contestant }) => contestant === other);
