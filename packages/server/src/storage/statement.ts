import { createHash } from "node:crypto";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { Database, Trx } from "./storage.ts";
import { connectionIn } from "./transaction.ts";

/**
 * A query that is built and compiled once for each database, for paths where building it anew costs more than running
 * it. `build` gets a placeholder under each name, and each run puts its values there. So `build` must not look at a
 * value: a query whose text depends on a value (one condition more, a list, `is null`) is no statement.
 */
export type Statement<P, O> = {
  all(db: Database, values: P): Promise<O[]>;
  first(db: Database, values: P): Promise<O | undefined>;
  /**
   * In a transaction: a write whose result is not needed. The caller goes on, and the commit awaits the write: it fails
   * if the write has failed, as does every statement in between. On SQLite the write is done at once.
   */
  later(trx: Trx, values: P): Promise<void>;
};

/** A query of the builder, or one written with `sql`. */
export type Built<O> = { compile(db: Database): CompiledQuery<O> };

/** `planName`: PostgreSQL keeps the plan of the statement under it. */
export type PreparedQuery<O = unknown> = CompiledQuery<O> & { planName?: string };

/** A connection on which a statement may be sent without waiting for its answer. */
export type PostponingConnection = { executeLater(query: CompiledQuery): Promise<void> };

/** A database with a quicker way for some queries than Kysely's; undefined: not for this query. */
export type Shortcut = { shortcut<O>(query: CompiledQuery<O>): Promise<QueryResult<O>> | undefined };

/** `isNamed: false` keeps no plan: without the value of a limit PostgreSQL assumes a tenth of the table. */
export function statement<P extends object, O>(
  build: (db: Database, placeholders: P) => Built<O>,
  { isNamed = true } = {},
): Statement<P, O> {
  const compiledFor = compileOnce((db) => build(db, placeholders as P), isNamed);
  const fill = (db: Database, values: P): CompiledQuery<O> => {
    const query = compiledFor(db);
    return { ...query, parameters: query.parameters.map((parameter) => valueAt(values, parameter)) };
  };
  return {
    all: async (db, values) => (await send<O>(db, fill(db, values))).rows,
    first: async (db, values) => (await send<O>(db, fill(db, values))).rows[0],
    later: async (trx, values) => sendLater(trx, fill(trx, values)),
  };
}

/** The same with values in the order of the text: for many values, names cost more than the statement. */
export function statementInOrder<O>(build: (db: Database) => Built<O>) {
  const compiledFor = compileOnce(build, true);
  const fill = (db: Database, parameters: readonly unknown[]): PreparedQuery<O> => ({
    ...compiledFor(db),
    parameters,
  });
  return {
    all: async (db: Database, parameters: readonly unknown[]): Promise<O[]> =>
      (await send<O>(db, fill(db, parameters))).rows,
    later: (trx: Database, parameters: readonly unknown[]): Promise<void> =>
      sendLater(trx, fill(trx, parameters)),
  };
}

function compileOnce<O>(
  build: (db: Database) => Built<O>,
  isNamed: boolean,
): (db: Database) => PreparedQuery<O> {
  // By adapter, because a database and all its transactions share one.
  const compiled = new WeakMap<object, PreparedQuery<O>>();
  return (db) => {
    const { adapter, plugins } = db.getExecutor();
    // A plugin sees every query while it is compiled, so with a plugin the query is compiled each time.
    let query = plugins.length === 0 ? compiled.get(adapter) : undefined;
    if (!query) {
      const built = build(db).compile(db);
      query = isNamed ? { ...built, planName: planNameOf(built.sql) } : built;
      if (plugins.length === 0) compiled.set(adapter, query);
    }
    return query;
  };
}

/** One text has one name in every release. */
const planNameOf = (text: string): string =>
  `latchkey_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;

/** Without plugins, which would see the result, Kysely's own way does nothing more and takes twice as long. */
function send<O>(db: Database, query: CompiledQuery<O>): Promise<QueryResult<O>> {
  const executor = db.getExecutor();
  if (executor.plugins.length > 0) return db.executeQuery<O>(query);
  const connection = connectionIn(executor);
  if (connection) return connection.executeQuery<O>(query);
  const { shortcut } = executor.adapter as Partial<Shortcut>;
  const sent = db.isTransaction ? undefined : shortcut?.(query);
  return sent ?? executor.provideConnection((provided) => provided.executeQuery<O>(query));
}

async function sendLater<O>(db: Database, query: CompiledQuery<O>): Promise<void> {
  const connection = connectionIn(db.getExecutor());
  if (connection && mayPostpone(connection)) await connection.executeLater(query);
  else await send(db, query);
}

export const mayPostpone = (
  connection: DatabaseConnection,
): connection is DatabaseConnection & PostponingConnection => "executeLater" in connection;

type Placeholder = { [NAME]: string };
const NAME = Symbol("name");
const placeholders = new Proxy({}, { get: (_, name): Placeholder => ({ [NAME]: String(name) }) });

/** A value that the query itself holds is no placeholder, and stays. */
function valueAt(values: object, parameter: unknown): unknown {
  const name = (parameter as Placeholder | null | undefined)?.[NAME];
  if (name === undefined) return parameter;
  const value = (values as Record<string, unknown>)[name];
  if (value === undefined) throw new Error(`the statement has no value for ${name}`);
  return value;
}
