import { type DatabaseConnection, type Dialect, DummyDriver, Transaction } from "kysely";
import type { Trx } from "./storage.ts";
import type { Tables } from "./tables.ts";

/** The connection of each open transaction, by the transaction's executor. */
const connections = new WeakMap<object, DatabaseConnection>();

/** The connection of an open transaction; undefined outside a transaction, and when the transaction has ended. */
export const connectionIn = (executor: object): DatabaseConnection | undefined => connections.get(executor);

/**
 * Runs `work` in a transaction that Kysely has begun, and gives every statement the connection at once: Kysely would
 * have each wait for the answer to the one before. So the statements of `Promise.all` reach the connection in the order
 * of the calls. When `work` has ended, a statement that comes afterwards is refused: the connection may be in another
 * transaction by then.
 */
export async function runInTransaction<T>(
  trx: Trx,
  dialect: Dialect,
  work: (trx: Trx) => Promise<T>,
): Promise<T> {
  const executor = trx.getExecutor();
  const connection = await executor.provideConnection(async (connection) => connection);
  const direct = executor.withConnectionProvider({
    async provideConnection(consumer) {
      if (!connections.has(direct)) throw new Error("the transaction has ended");
      return consumer(connection);
    },
  });
  connections.set(direct, connection);
  const parts = { config: { dialect }, dialect, driver: new DummyDriver(), executor: direct };
  try {
    return await work(new Transaction<Tables>(parts));
  } finally {
    connections.delete(direct);
  }
}
