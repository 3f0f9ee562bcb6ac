import { CompiledQuery, type KyselyPlugin, sql } from "kysely";
import type { Storage } from "../../src/storage/storage.ts";

/** The same storage, whose statements are shown before they are sent. What `onStatement` throws is what the sender gets. */
export function watchStatements(storage: Storage, onStatement: (statement: CompiledQuery) => void): Storage {
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      onStatement(storage.db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { ...storage, db: storage.db.withPlugin(plugin) };
}

/** How the database would go about a statement. */
export async function planOf({ engine, db }: Storage, statement: CompiledQuery): Promise<string> {
  const explain = engine === "sqlite" ? "explain query plan" : "explain";
  const rows = await db.transaction().execute(async (trx) => {
    // PostgreSQL reads a small table whole, and sorts what is in it, unless that is ruled out.
    for (const way of engine === "postgres" ? ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort"] : [])
      await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(trx);
    const query = CompiledQuery.raw(`${explain} ${statement.sql}`, [...statement.parameters]);
    return (await trx.executeQuery<Record<string, string>>(query)).rows;
  });
  return rows.map((row) => row.detail ?? row["QUERY PLAN"]).join("\n");
}
