import cluster from "node:cluster";
import type { Config } from "../../config.ts";
import { startService } from "../../main.ts";
import { joinWorkers, type ToPrimary, type ToWorker } from "../../workers.ts";
import { DRAIN_MS, stopOnce } from "./stop.ts";

/**
 * One worker. It stops when the primary says so, or when the primary has ended. It ignores signals: terminals and
 * service managers send them to all processes, and a worker would take the second one as "at once".
 */
export async function work(config: Config, count: number): Promise<void> {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => {});
  const { worker } = cluster;
  if (!worker) throw new Error("not a worker");
  // Otherwise Node would end the worker at once when the primary ends, with requests under way.
  worker.exitedAfterDisconnect = true;
  const send = (message: ToPrimary) => {
    if (worker.isConnected()) worker.send(message);
  };
  const onMessage = (listener: (message: ToWorker) => void) => void worker.on("message", listener);
  const workers = joinWorkers({ send, onMessage }, count);
  const starting = startService(config, { worker: { number: worker.id, workers } });
  // The channel alone would keep a process alive that cannot start.
  starting.catch(() => worker.disconnect());
  const service = await starting;
  const stop = stopOnce(() => service.stop(DRAIN_MS));
  onMessage(({ kind }) => {
    if (kind === "stop") stop();
  });
  worker.once("disconnect", stop);
  if (!worker.isConnected()) stop();
  send({ kind: "ready" });
}
