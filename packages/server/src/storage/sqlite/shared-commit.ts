import type { DatabaseSync } from "node:sqlite";
import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Dialect } from "kysely";
import type { Database, Trx } from "../storage.ts";
import { runInTransaction } from "../transaction.ts";

/**
 * Transactions in one commit at most: the first waits for as long as all of them take, and the event loop is held
 * meanwhile.
 */
const MOST = 32;
/**
 * The commit comes after so many turns of the event loop without a new transaction. More turns gather hardly more (ADR
 * 37).
 */
const EMPTY_TURNS = 2;

type WaitingTransaction = {
  work(trx: Trx): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/**
 * Commits transactions together for as long as others come, so that the wait for the disk, and every page that several
 * of them change, are paid for once. Each has a savepoint: a transaction that throws is undone alone. No caller gets an
 * answer before the commit, and when the commit fails, all of them have failed.
 */
export function createSharedCommits(file: DatabaseSync, dialect: Dialect) {
  /** By database: a database with a plugin around it is another database on the same connection. */
  const queues = new WeakMap<Database, WaitingTransaction[]>();
  const begin = file.prepare("savepoint member");
  const keep = file.prepare("release member");
  const undo = file.prepare("rollback to member");

  async function commitAll(db: Database, queue: WaitingTransaction[]): Promise<void> {
    while (queue.length > 0) await commitSome(db, queue);
    queues.delete(db);
  }

  async function commitSome(db: Database, queue: WaitingTransaction[]): Promise<void> {
    const members: WaitingTransaction[] = [];
    const answers: (() => void)[] = [];
    const workOff = async (trx: Trx) => {
      while (queue.length > 0 && members.length < MOST) {
        const member = queue.shift() as WaitingTransaction;
        members.push(member);
        answers.push(await carryOut(trx, member));
      }
    };
    try {
      await db.transaction().execute(async (trx) => {
        do await workOff(trx);
        while (members.length < MOST && (await hasMore(queue)));
      });
      for (const answer of answers) answer();
    } catch (error) {
      // The transaction could not begin.
      if (members.length === 0) members.push(...queue.splice(0, MOST));
      for (const { reject } of members) reject(error);
    }
  }

  async function carryOut(trx: Trx, { work, resolve, reject }: WaitingTransaction): Promise<() => void> {
    begin.run();
    try {
      const value = await runInTransaction(trx, dialect, work);
      keep.run();
      return () => resolve(value);
    } catch (error) {
      // A full disk has made SQLite undo the whole transaction.
      if (!file.isTransaction) throw error;
      undo.run();
      keep.run();
      return () => reject(error);
    }
  }

  return <T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const waiting = { work, resolve: resolve as WaitingTransaction["resolve"], reject };
      const queue = queues.get(db);
      if (queue) queue.push(waiting);
      else {
        const begun = [waiting];
        queues.set(db, begun);
        void commitAll(db, begun);
      }
    });
}

async function hasMore(queue: readonly WaitingTransaction[]): Promise<boolean> {
  for (let empty = 0; empty < EMPTY_TURNS && queue.length === 0; empty++) await endOfTurn();
  return queue.length > 0;
}
