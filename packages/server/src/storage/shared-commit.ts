import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Database, Trx } from "./storage.ts";

/** So many at most in one commit: the event loop is held for as long as they take. */
const MOST = 32;

type Member = {
  work(trx: Trx): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/**
 * Transactions that come in one turn of the event loop are committed together, so that the wait for the disk, and every page that
 * several of them change, are paid for once. Each has a savepoint: one that throws is undone alone. Nobody hears of anything
 * before the commit, and when that fails, all of them have failed.
 */
export function createSharedCommits(file: DatabaseSync) {
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
        await workOff(trx);
        await endOfTurn();
        await workOff(trx);
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
      const value = await work(trx);
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
