/**
 * The processes of one instance: a primary that starts the workers and serves no request, and workers that each answer
 * health and metrics for all. They exchange messages over Node's channel between parent and child, and share only the
 * listening sockets.
 */

type Subject = "readiness" | "metrics";

/** Messages between a worker and its primary. */
export type ToPrimary =
  | { kind: "ready" }
  | { kind: "ask"; id: number; about: Subject }
  | { kind: "answer"; id: number; answer: unknown };
export type ToWorker =
  | { kind: "stop" }
  | { kind: "question"; id: number; about: Subject }
  | { kind: "gathered"; id: number; gathered: Gathered };

/**
 * The answers of all workers. A worker that did not answer within a second, or has ended, is not in `answers`; its last
 * answer is in `missing`, so that its counters still count.
 */
export type Gathered = {
  answers: unknown[];
  missing: unknown[];
  workers: number;
  lost: number;
  /** Start of the primary, in seconds since 1970. */
  startedAt: number | undefined;
};

/** The other workers of this instance. */
export type Workers = {
  /** Asks all workers, this one included. */
  ask(about: Subject): Promise<Gathered>;
  /** Sets the function that answers for this worker. */
  answer(about: Subject, answer: () => Promise<unknown>): void;
};

/** Longer than the primary waits for its workers, so a timeout means that the primary itself does not answer. */
const PRIMARY_WITHIN_MS = 1500;

type Channel = { send(message: ToPrimary): void; onMessage(listener: (message: ToWorker) => void): void };

export function joinWorkers({ send, onMessage }: Channel, workers: number): Workers {
  const own = new Map<Subject, () => Promise<unknown>>();
  const asked = new Map<number, (gathered: Gathered) => void>();
  let asks = 0;

  onMessage((message) => {
    if (message.kind === "gathered") asked.get(message.id)?.(message.gathered);
    if (message.kind !== "question") return;
    const { id, about } = message;
    // A worker that cannot answer sends nothing, and the asking worker counts it as silent.
    own
      .get(about)?.()
      .then(
        (answer) => send({ kind: "answer", id, answer }),
        () => {},
      );
  });

  return {
    answer: (about, answer) => void own.set(about, answer),
    async ask(about) {
      const id = asks++;
      const { promise, resolve } = Promise.withResolvers<Gathered>();
      const alone = async () => ({
        answers: [await own.get(about)?.()],
        missing: [],
        workers,
        lost: 0,
        startedAt: undefined,
      });
      const timer = setTimeout(() => alone().then(resolve), PRIMARY_WITHIN_MS);
      asked.set(id, resolve);
      send({ kind: "ask", id, about });
      return promise.finally(() => {
        clearTimeout(timer);
        asked.delete(id);
      });
    },
  };
}
