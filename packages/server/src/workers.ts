/**
 * The processes of one instance: a primary that starts them and answers nothing itself, and workers of which any answers for all.
 * They speak over the channel between parent and child, and share nothing else but the listening sockets.
 */

type Subject = "readiness" | "metrics";

/** What a worker says to its primary, and what it hears from it. */
export type ToPrimary =
  | { kind: "ready" }
  | { kind: "ask"; id: number; about: Subject }
  | { kind: "answer"; id: number; answer: unknown };
export type ToWorker =
  | { kind: "stop" }
  | { kind: "question"; id: number; about: Subject }
  | { kind: "gathered"; id: number; gathered: Gathered };

/**
 * What the workers have answered. Fewer answers than workers: some did not within a second, or are being replaced. What those
 * and the ones that have ended had last answered is in `missing`: their figures that only grow still count.
 */
export type Gathered = {
  answers: unknown[];
  missing: unknown[];
  workers: number;
  lost: number;
  /** When the primary was started, in seconds since 1970. */
  startedAt: number | undefined;
};

/** The other workers, as one of them sees them. */
export type Workers = {
  /** Asks all, the asker included. */
  ask(about: Subject): Promise<Gathered>;
  /** How this one answers. */
  answer(about: Subject, answer: () => Promise<unknown>): void;
};

/** Longer than the primary waits for the workers: it is not answered when the primary itself stands still. */
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
    // Where this one cannot answer it sends nothing, and the asker counts it among the silent ones.
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
