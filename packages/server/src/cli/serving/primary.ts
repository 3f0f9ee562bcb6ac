import cluster, { type Worker } from "node:cluster";
import type { Config } from "../../config.ts";
import { createLineWriter } from "../../lib/line-writer.ts";
import { createLog, type Log } from "../../lib/log.ts";
import type { Gathered, ToPrimary, ToWorker } from "../../workers.ts";
import { EXIT_WITHIN_MS, stopOnSignal } from "./stop.ts";

const ANSWER_WITHIN_MS = 1000;
/** A worker that has lived this long is replaced at once; one that ends again and again, at growing intervals. */
const LIVED_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/**
 * Starts the workers, replaces those that end, and stops them in order. The primary opens the listening sockets and
 * each worker accepts from them: a waiting connection goes to any worker with time, even if another has ended or is
 * blocked. If the primary passed connections on, one on its way to an ended worker would be lost (ADR 23).
 */
export async function startWorkers(
  { logLevel, valkeyUrls }: Pick<Config, "logLevel" | "valkeyUrls">,
  count: number,
): Promise<void> {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // Metrics may be NaN, which JSON cannot write.
  cluster.setupPrimary({ serialization: "advanced" });
  const lines = createLineWriter(1, { isShared: true });
  const log = createLog(logLevel, lines);
  const staff = createStaff({ log }, count);
  stopOnSignal(async () => {
    await staff.stop();
    await lines.flush(500);
  }, staff.kill);
  // The first worker alone: it makes the tables, and a fault that prevents its start is reported once, by the worker
  // itself.
  if (!(await staff.hire())) process.exit(1);
  await Promise.all(Array.from({ length: count - 1 }, staff.hire));
  const countsAlone = valkeyUrls.length === 0 && count > 1;
  const note = `LATCHKEY_VALKEY_URL is not set, so each worker counts for itself: a store's limits are served up to ${count} times over`;
  log.info({ event: "workers", workers: count, ...(countsAlone && { note }) });
}

function createStaff({ log }: { log: Log }, count: number) {
  const serving = new Set<Worker>();
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  const { gather, take, leave } = createGathering(serving, () => ({ workers: count, lost, startedAt }));
  let hasServed = false;
  let isStopping = false;
  let lost = 0;
  let quickDeaths = 0;
  let worst = 0;

  /** Starts one more worker. Resolves with true when it serves, or with false when it ended before. */
  function hire(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const startedMs = performance.now();
    const worker = cluster.fork();
    // The channel breaks before the exit of the process is reported.
    worker.on("error", () => {});
    worker.on("message", (message: ToPrimary) => {
      if (message.kind === "answer") take(worker, message);
      if (message.kind === "ask") gather(worker, message);
      if (message.kind !== "ready") return;
      hasServed = true;
      serving.add(worker);
      if (isStopping) tell(worker, { kind: "stop" });
      resolve(true);
    });
    worker.once("exit", (code, signal) => {
      const hasServedItself = serving.delete(worker);
      leave(worker);
      if (isStopping) {
        // A worker ended during its start was ended by the primary, and no caller waits for it.
        if (hasServedItself && code !== 0) worst = 1;
        return;
      }
      resolve(false);
      if (hasServed) replace(worker, { code, signal, livedMs: performance.now() - startedMs });
    });
    return promise;
  }

  type End = { code: number | null; signal: string | null; livedMs: number };

  function replace({ id, process: { pid } }: Worker, { code, signal, livedMs }: End): void {
    lost++;
    quickDeaths = livedMs >= LIVED_MS ? 0 : quickDeaths + 1;
    const pauseMs =
      quickDeaths === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (quickDeaths - 1));
    log.error({ event: "worker_lost", worker: id, pid, code, signal, replaced_in_ms: pauseMs });
    setTimeout(() => {
      if (!isStopping) void hire();
    }, pauseMs);
  }

  const all = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

  function kill(): void {
    for (const worker of all()) worker.process.kill("SIGKILL");
  }

  return {
    hire,
    kill,
    async stop(): Promise<void> {
      isStopping = true;
      for (const worker of all()) {
        if (serving.has(worker)) tell(worker, { kind: "stop" });
        // A worker that is still starting serves no request.
        else worker.process.kill("SIGKILL");
      }
      const ended = all().map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
      // A worker ends itself in time; a blocked worker does not.
      const timer = setTimeout(kill, EXIT_WITHIN_MS - 200);
      await Promise.all(ended);
      clearTimeout(timer);
      if (worst !== 0) throw new Error("a worker did not stop cleanly");
    },
  };
}

const tell = (worker: Worker, message: ToWorker): void => {
  if (worker.isConnected()) worker.send(message);
};

type WorkerQuestion = Pick<AskMessage, "about"> & {
  awaited: Set<Worker>;
  answers: unknown[];
  finish(): void;
};
type AskMessage = Extract<ToPrimary, { kind: "ask" }>;
type WorkerFacts = Pick<Gathered, "workers" | "lost" | "startedAt">;

/** Passes a worker's question to all workers, and their answers back. */
function createGathering(serving: ReadonlySet<Worker>, facts: () => WorkerFacts) {
  const questions = new Map<number, WorkerQuestion>();
  /** The last metrics of each worker, and the sum of those that have ended. */
  const lastFigures = new Map<Worker, unknown>();
  let ended: Promise<unknown[]> = Promise.resolve([]);
  let asked = 0;

  function leave(worker: Worker): void {
    const figures = lastFigures.get(worker);
    if (!lastFigures.delete(worker)) return;
    ended = ended.then(async (before) => {
      // Loaded only when a worker has ended.
      const { addUp } = await import("../../observe/metrics-text.ts");
      return [await addUp([...before, figures])];
    });
  }

  function gather(asker: Worker, { id, about }: AskMessage): void {
    const number = asked++;
    // A worker that asks can answer too, even before it has reported that it serves.
    const awaited = new Set(serving).add(asker);
    const answers: unknown[] = [];
    // The sum as of the question: a worker that ends after its answer must not count twice.
    const before = { ended, lastFigures: new Map(lastFigures) };
    const finish = async () => {
      clearTimeout(timer);
      questions.delete(number);
      const silent = [...awaited].map((worker) => before.lastFigures.get(worker));
      const figures = [...(await before.ended), ...silent.filter((last) => last !== undefined)];
      const missing = about === "metrics" ? figures : [];
      tell(asker, { kind: "gathered", id, gathered: { answers, missing, ...facts() } });
    };
    const timer = setTimeout(finish, ANSWER_WITHIN_MS);
    questions.set(number, { about, awaited, answers, finish });
    for (const worker of [...awaited]) tell(worker, { kind: "question", id: number, about });
  }

  function take(worker: Worker, { id, answer }: Extract<ToPrimary, { kind: "answer" }>): void {
    const question = questions.get(id);
    if (!question?.awaited.delete(worker)) return;
    question.answers.push(answer);
    if (question.about === "metrics") lastFigures.set(worker, answer);
    if (question.awaited.size === 0) question.finish();
  }

  return { gather, take, leave };
}
