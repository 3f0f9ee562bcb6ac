import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Dialect } from "kysely";
import type { Database, Trx } from "../storage.ts";
import { runInTransaction } from "../transaction.ts";

/** So many at most in one commit: the first waits for as long as all of them take, and the event loop for those that came at once. */
const MOST = 32;
/** The commit comes after so many turns of the event loop that brought nobody. What more of them gather is hardly worth it (ADR 37). */
const EMPTY_TURNS = 2;

type Member = {
  work(trx: Trx): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/**
 * Transactions are committed together for as long as others come, so that the wait for the disk, and every page that several of
 * them change, are paid for once. Each has a savepoint: one that throws is undone alone. Nobody hears of anything before the
 * commit, and when that fails, all of them have failed.
 */
export function createSharedCommits(file: DatabaseSync, dialect: Dialect) {
  /** By database: one with a plugin around it is another, on the same connection. */
  const queues = new WeakMap<Database, Member[]>();
  const [begin, keep, undo] = ["savepoint member", "release member", "rollback to member"].map((text) =>
    file.prepare(text),
  ) as [StatementSync, StatementSync, StatementSync];

  async function commitAll(db: Database, queue: Member[]): Promise<void> {
    while (queue.length > 0) await commitSome(db, queue);
    queues.delete(db);
  }

  async function commitSome(db: Database, queue: Member[]): Promise<void> {
    const members: Member[] = [];
    const endings: (() => void)[] = [];
    const workOff = async (trx: Trx) => {
      while (queue.length > 0 && members.length < MOST) {
        const member = queue.shift() as Member;
        members.push(member);
        endings.push(await carryOut(trx, member));
      }
    };
    try {
      await db.transaction().execute(async (trx) => {
        do await workOff(trx);
        while (members.length < MOST && (await somebodyComes(queue)));
      });
      for (const tell of endings) tell();
    } catch (error) {
      // Before the first began there is nobody among the members yet.
      if (members.length === 0) members.push(...queue.splice(0, MOST));
      for (const { reject } of members) reject(error);
    }
  }

  async function carryOut(trx: Trx, { work, resolve, reject }: Member): Promise<() => void> {
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
      const member = { work, resolve: resolve as Member["resolve"], reject };
      const queue = queues.get(db);
      if (queue) queue.push(member);
      else {
        const begun = [member];
        queues.set(db, begun);
        void commitAll(db, begun);
      }
    });
}

async function somebodyComes(queue: readonly Member[]): Promise<boolean> {
  for (let empty = 0; empty < EMPTY_TURNS && queue.length === 0; empty++) await endOfTurn();
  return queue.length > 0;
}
