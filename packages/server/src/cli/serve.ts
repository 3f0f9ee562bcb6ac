import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import { readConfig, variables } from "../config.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { readOptions } from "./options.ts";
import { DRAIN_MS, stopOnSignal } from "./stop.ts";

const MAX_WORKERS = 64;

const USAGE = `latchkey serve [--workers <n>]

Runs the service. With --workers as so many processes behind one address (PostgreSQL only; 1 to ${MAX_WORKERS}, or auto: as many as there
are cores), each with its own connections to the database. Configuration comes from the environment:

${variables.map(({ name, meaning, default: value }) => `  ${name}\n      ${meaning}\n      default: ${value}`).join("\n")}`;

/** What serves is loaded only where something is served: a primary knows no more than who works. */
export async function serve(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, { workers: { type: "string" } });
  if (!options) return;
  const count = readWorkers(options.workers ?? "1");
  const config = readConfig(process.env);
  if (count > 1 && config.databaseUrl.startsWith("sqlite:"))
    throw operatorFault(
      "--workers needs PostgreSQL: a SQLite file is served by one process. Leave --workers out, or set LATCHKEY_DATABASE_URL.",
    );
  if (cluster.worker) {
    const { work } = await import("./worker.ts");
    return work(config, count);
  }
  if (count > 1) {
    const { startWorkers } = await import("./primary.ts");
    return startWorkers(config, count);
  }
  const { startService } = await import("../main.ts");
  const service = await startService(config);
  stopOnSignal(() => service.stop(DRAIN_MS));
}

function readWorkers(given: string): number {
  if (given === "auto") return Math.min(availableParallelism(), MAX_WORKERS);
  const count = /^\d{1,2}$/.test(given) ? Number(given) : 0;
  if (count < 1 || count > MAX_WORKERS)
    throw operatorFault(`--workers must be a whole number from 1 to ${MAX_WORKERS}, or auto`);
  return count;
}
