import type { CompiledQuery, KyselyPlugin } from "kysely";
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
