import type { Socket } from "node:net";
import type { PostgresQueryResult } from "kysely";
import type pg from "pg";
import { nameOf, whenOf } from "../statement.ts";
import { cameSecond, isUniqueViolation } from "../unique-violation.ts";
import { ask as askDriver, askWithBegin, prepareBegin } from "./query.ts";

/**
 * Limits of a statement. It is ended by the server before we stop waiting for it, so that what we have given up is not
 * carried out later.
 */
const LIMITS = {
  /** At the server: waiting for somebody else's lock, and a whole statement with that. */
  lockMs: 600,
  statementMs: 800,
  /** At the server: a transaction in which nothing is asked, because its instance is paused or gone. Its locks go with it. */
  idleInTransactionMs: 5000,
  /** Here: a statement that the server has not answered, not even by ending it, is on a connection that is lost. */
  answerMs: 1000,
} as const;

const settingsOf = (slack: number): [name: string, ms: number][] => [
  ["lock_timeout", LIMITS.lockMs * slack],
  ["statement_timeout", LIMITS.statementMs * slack],
  ["idle_in_transaction_session_timeout", LIMITS.idleInTransactionMs * slack],
];

type Ask = (text: string, values?: readonly unknown[]) => Promise<PostgresQueryResult<unknown>>;

export type Connection = {
  query: Ask;
  release(isDiscarded?: boolean): void;
  /** When the server last answered on it. */
  heardAtMs(): number;
};

/**
 * Whether a server process is ours for as long as the connection lasts: then the number that we were greeted with is the one
 * that it has itself. A pooler (PgBouncer) makes one up, because it lends its clients a process for a transaction at a time.
 */
export const isOwnProcess = (client: pg.ClientBase): string =>
  `pg_backend_pid() = ${Number((client as unknown as { processID: number | null }).processID)}`;

/**
 * What is asked first on a connection: sets our time limits for the session, if the connection is to the server itself. Behind a
 * pooler nothing is set: the session belongs to the pooler, and its next user would get our limits.
 */
export async function greet(
  client: pg.ClientBase,
  withinMs: number,
  slack: number,
): Promise<"direct" | "pooled"> {
  return answered(greeted(client, slack), withinMs).catch((error) => {
    closeSocket(client);
    throw error;
  });
}

async function greeted(client: pg.ClientBase, slack: number): Promise<"direct" | "pooled"> {
  const set = settingsOf(slack).map(([name, ms]) => `set_config('${name}', '${ms}', false)`);
  const { rowCount } = await client.query(`select ${set.join(", ")} where ${isOwnProcess(client)}`);
  if (rowCount !== 1) return "pooled";
  await prepareBegin(client);
  return "direct";
}

/**
 * What the fixed statements (statement.ts) are called at the server, which then parses and plans each once a connection and not
 * once a run. A newer release may change a table under a plan, and then the server refuses the name: all get new ones.
 */
type Names = {
  of(text: string): string | undefined;
  areOff(): boolean;
  distrust(name: string | undefined, error: unknown): void;
};

export function createNames(): Names {
  let generation = 0;
  let isOff = false;
  /** The same string each time: a new one would have to be hashed again wherever it is looked up. */
  const names = new Map<string, string>();
  return {
    of(text) {
      if (isOff) return undefined;
      const name = names.has(text) ? undefined : nameOf(text);
      if (name) names.set(text, `${name}_${generation}`);
      return names.get(text);
    },
    areOff: () => isOff,
    distrust(name, error) {
      // 26000 and 42P05: a pooler has put another server process behind the connection, so names are not used again.
      if (codeOf(error) !== FEATURE_NOT_SUPPORTED) isOff = true;
      else if (name?.endsWith(`_${generation}`)) {
        generation++;
        names.clear();
      }
    },
  };
}

/** Where a statement stands: by itself, or in a transaction, as its first one or not. */
type Place = "alone" | "first" | "inside";

type Way = {
  patient: boolean;
  slack: number;
  isPooled: boolean;
  names: Names;
  onHeard(atMs: number): void;
  onSilent(): void;
};

export function watched(client: pg.PoolClient, way: Way): Connection {
  const { patient, slack, isPooled, names } = way;
  const answerMs = patient ? Number.POSITIVE_INFINITY : LIMITS.answerMs * slack;
  const limitedBegin = ["begin", ...settingsOf(slack).map(([name, ms]) => `set local ${name} = ${ms}`)].join(
    "; ",
  );
  const mayName = !patient && !isPooled;
  let heardAtMs = performance.now();
  let unanswered = 0;
  let isLost = false;
  /** What was asked in a transaction and is sent with the next, in the order in which it was asked. */
  let unsent: Promise<unknown>[] = [];
  /** A transaction was begun, and nothing asked in it yet: its begin is sent with the first statement. */
  let isToBegin = false;

  function hear(): void {
    heardAtMs = performance.now();
    way.onHeard(heardAtMs);
  }

  async function ask(text: string, values: readonly unknown[] = [], name?: string, isFirst = false) {
    if (isLost) throw new Error("Connection terminated: the statement before was not answered");
    unanswered++;
    try {
      const asked = { text, values, name };
      const sent = isFirst ? askWithBegin(client, asked) : askDriver(client, asked);
      const result = await answered(sent, answerMs);
      hear();
      return result as unknown as PostgresQueryResult<unknown>;
    } catch (error) {
      // Who asked, in place of how the socket was read: a log shows the first lines alone.
      if (error instanceof Error) Error.captureStackTrace(error);
      isLost ||= leavesInDoubt(error);
      // The socket goes now and not at release: what is still under way there is undone that much sooner.
      if (isLost) closeSocket(client);
      if (isSilence(error)) way.onSilent();
      else if (codeOf(error) !== undefined) hear();
      if ((name || isFirst) && isNameRefused(error)) names.distrust(name, error);
      throw error;
    } finally {
      unanswered--;
    }
  }

  /**
   * Behind a pooler the next process has no limits but those that come with the transaction, so every statement has one. The
   * three are sent together, and take the time of one.
   */
  async function askLimited(text: string, values: readonly unknown[]) {
    const sent = [ask(limitedBegin), ask(text, values), ask("commit")] as const;
    const [, result, ended] = await Promise.allSettled(sent);
    // After a statement that failed, the commit has undone the transaction, and says no more than that.
    if (result.status === "rejected") throw result.reason;
    if (ended.status === "rejected") throw ended.reason;
    return result.value;
  }

  async function query(text: string, values: readonly unknown[], place: Place) {
    const name = mayName ? names.of(text) : undefined;
    const again = () => (isPooled && place === "alone" ? askLimited(text, values) : ask(text, values));
    try {
      return await (name || place === "first" ? ask(text, values, name, place === "first") : again());
    } catch (error) {
      // Outside a transaction a statement that lost a deadlock has changed nothing, and may simply be sent again; so may one
      // whose name was refused, this time without.
      if (place !== "alone" || !isUndone(error)) throw error;
      return again();
    }
  }

  function placeOf(): Place {
    if (isToBegin) return "first";
    return unsent.length === 0 && client.getTransactionStatus() === "I" ? "alone" : "inside";
  }

  /** Holds back a begin, and what may go later; anything else takes them along, and has failed if one of them has. */
  async function queryWithUnsent(text: string, values: readonly unknown[]) {
    if (text === "begin") {
      if (!mayName || names.areOff()) return ask(isPooled ? limitedBegin : text);
      isToBegin = true;
      return NOTHING;
    }
    const place = placeOf();
    isToBegin = false;
    const when = whenOf(text);
    if (when !== "at once" && place !== "alone") {
      socketOf(client).cork();
      const asked = query(text, values, place);
      asked.catch(() => {});
      unsent.push(asked);
      return when === "later" ? NOTHING : asked;
    }
    if (unsent.length === 0) return query(text, values, place);
    const before = unsent;
    unsent = [];
    const asked = query(text, values, place);
    for (const _ of before) socketOf(client).uncork();
    const endings = await Promise.allSettled([...before, asked]);
    const failed = endings.slice(0, -1).find(({ status }) => status === "rejected") as PromiseRejectedResult;
    if (!failed || text === "rollback") return asked;
    // It is undone with the transaction, and what follows was refused only because of it.
    throw isUniqueViolation(failed.reason) ? cameSecond(failed.reason) : failed.reason;
  }

  return {
    query: queryWithUnsent as Ask,
    release(isDiscarded = false) {
      const isAtRest = !isLost && unanswered === 0 && client.getTransactionStatus() === "I";
      client.release(isDiscarded || !isAtRest);
    },
    heardAtMs: () => heardAtMs,
  };
}

/** Without the farewell that `end` waits for: a server that does not answer would not answer that either. */
export function closeSocket(client: pg.ClientBase): void {
  socketOf(client).destroy();
}

const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

const NOTHING = { command: "INSERT", rowCount: 0, rows: [] } as const;

const codeOf = (error: unknown): string | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

/**
 * Serialisation failure, deadlock, a lock not had in time, a name refused: the server has answered, and undone the statement
 * with its transaction. Two that lock each other out meet the limit on locks before the server's own look for deadlocks.
 */
export const isUndone = (error: unknown): boolean =>
  ["40001", "40P01", "55P03"].includes(codeOf(error) ?? "") || isNameRefused(error);

const FEATURE_NOT_SUPPORTED = "0A000";

/**
 * A prepared statement is not there (26000), or already (42P05), or would now give other columns than when it was planned,
 * which has a code that means many things, and words in the server's language: the place in its code tells.
 */
function isNameRefused(error: unknown): boolean {
  const { routine } = error as { routine?: unknown };
  const code = codeOf(error);
  return (
    code === "26000" ||
    code === "42P05" ||
    (code === FEATURE_NOT_SUPPORTED && routine === "RevalidateCachedQuery")
  );
}

/** Without a code of SQL nobody answered; with these the session was cancelled or ended, or the server is not well, or only reads (25006). */
const leavesInDoubt = (error: unknown): boolean => /^(08|57|58|XX|25006|25P03)/.test(codeOf(error) ?? "08");

const SILENCE = "Connection terminated: a statement was not answered in time";

const isSilence = (error: unknown): boolean => (error as Error).message === SILENCE;

/**
 * Rejects when there is no answer in time. Time is counted in tenths: a machine that stood still as a whole for seconds has used up
 * one of them, and the other side has the rest. The last look comes after the sockets were read once more.
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
