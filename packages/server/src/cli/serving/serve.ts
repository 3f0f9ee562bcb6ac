import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import { readConfig } from "../../config.ts";
import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import { quoted } from "../options.ts";
import { findKeptKey } from "./kept-files.ts";
import { DRAIN_MS, stopOnSignal } from "./stop.ts";

const MAX_WORKERS = 64;

/** Only serving processes import main.ts; a primary, which only starts workers, does not load it. */
export async function serve({ workers }: { workers: string }): Promise<void> {
  const count = readWorkers(workers);
  const config = readConfig(process.env, findKeptKey);
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
  const { startService } = await import("../../main.ts");
  const service = await startService(config);
  stopOnSignal(() => service.stop(DRAIN_MS));
}

function readWorkers(given: string): number {
  if (given === "auto") return Math.min(availableParallelism(), MAX_WORKERS);
  const count = /^\d{1,2}$/.test(given) ? Number(given) : 0;
  if (count < 1 || count > MAX_WORKERS)
    throw usageFault(
      `--workers must be a whole number from 1 to ${MAX_WORKERS}, or auto, not ${quoted(given)}`,
    );
  return count;
}
