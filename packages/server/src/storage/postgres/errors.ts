/** The SQLSTATE of an error that the server sent. */
export const codeOf = (error: unknown): string | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

/** in_failed_sql_transaction: a statement before this one failed, so the server refuses all but a rollback. */
const ABORTED = "25P02";

export const isAborted = (error: unknown): boolean => codeOf(error) === ABORTED;

/** The error of a statement that the server skipped. */
export const aborted = (cause?: unknown): Error =>
  Object.assign(new Error("a statement of the transaction failed before this one", { cause }), {
    code: ABORTED,
  });

/**
 * Serialisation failure, deadlock, lock timeout or refused name: the server has undone the statement and its
 * transaction. Two transactions that lock each other out meet `lock_timeout` before the server looks for deadlocks.
 */
export const isUndone = (error: unknown): boolean =>
  ["40001", "40P01", "55P03"].includes(codeOf(error) ?? "") || isNameRefused(error);

const FEATURE_NOT_SUPPORTED = "0A000";

/**
 * A prepared statement is missing (26000), is there already (42P05), or would now return other columns than when it was
 * planned (0A000). 0A000 has many meanings and its text is in the server's language, so the server's function name
 * decides.
 */
export function isNameRefused(error: unknown): boolean {
  const { routine } = error as { routine?: unknown };
  const code = codeOf(error);
  return code === "26000" || code === "42P05" || (code === FEATURE_NOT_SUPPORTED && isReplanned(routine));
}

const isReplanned = (routine: unknown): boolean => routine === "RevalidateCachedQuery";

/** The table under a plan was altered, in contrast to a pooler that has swapped the server process. */
export const isPlanOutdated = (error: unknown): boolean => codeOf(error) === FEATURE_NOT_SUPPORTED;

/**
 * Without an SQLSTATE the server has not answered. With these the session was cancelled or ended, the server is
 * damaged, or it only reads (25006).
 */
export const leavesInDoubt = (error: unknown): boolean =>
  /^(08|57|58|XX|25006|25P03)/.test(codeOf(error) ?? "08");

const SILENCE = "Connection terminated: a statement was not answered in time";

export const isSilence = (error: unknown): boolean => (error as Error).message === SILENCE;

/**
 * Rejects when there is no answer in time. Time is counted in tenths: a machine that was suspended for seconds uses up
 * one tenth, and the server has the others to answer in. The last look comes after the sockets were read once more.
 */
export function answered<T>(work: Promise<T>, withinMs: number): Promise<T> {
  if (withinMs === Number.POSITIVE_INFINITY) return work;
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let tenths = 0;
  const timer = setInterval(() => {
    if (++tenths < 10) return;
    clearInterval(timer);
    setImmediate(() => reject(new Error(SILENCE)));
  }, withinMs / 10);
  work.then(resolve, reject).finally(() => clearInterval(timer));
  return promise;
}
