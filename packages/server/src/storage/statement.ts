import { createHash } from "node:crypto";
import type { CompiledQuery, QueryResult } from "kysely";
import type { Database, Trx } from "./storage.ts";

/**
 * A query that is built and compiled once for each database, for paths where building it anew costs more than running it.
 * `build` sees a place holder under each name; a run puts its values there. So it must not look at what it is given: a query
 * whose text depends on a value (one condition more, a list, `is null`) is no statement.
 */
export type Statement<P, O> = {
  all(db: Database, values: P): Promise<O[]>;
  first(db: Database, values: P): Promise<O | undefined>;
  /**
   * In a transaction, for what nobody looks at the answer of. PostgreSQL gets it together with what is asked next, in the end the
   * commit, which fails if this has failed: a round trip less. On SQLite it is done at once.
   */
  later(trx: Trx, values: P): Promise<void>;
  /**
   * The same for what is looked at when the next statement was answered, and only then: `row` waits for that one. If this fails, so
   * has `row`, and on PostgreSQL the next statement with it.
   */
  firstWithNext(trx: Trx, values: P): Promise<{ row: Promise<O | undefined> }>;
};

/** A query of the builder, or one written with `sql`. */
export type Built<O> = { compile(db: Database): CompiledQuery<O> };

/**
 * PostgreSQL keeps its plan under a name, unless `isNamed` is false: for a text with a limit, of which the planner believes,
 * when it does not see the value, that it takes a tenth of the table.
 */
export function statement<P extends object, O>(
  build: (db: Database, places: P) => Built<O>,
  { isNamed = true } = {},
): Statement<P, O> {
  const compiledFor = compileOnce((db) => build(db, places as P), { isNamed });
  const laterFor = compileOnce((db) => build(db, places as P), { isNamed, when: LATER });
  const withNextFor = compileOnce((db) => build(db, places as P), { isNamed, when: WITH_NEXT });

  const fill = (query: CompiledQuery<O>, values: P): CompiledQuery<O> => ({
    ...query,
    parameters: query.parameters.map((parameter) => valueAt(values, parameter)),
  });
  const run = async (db: Database, query: CompiledQuery<O>, values: P): Promise<O[]> =>
    (await send(db, fill(query, values))).rows;

  return {
    all: (db, values) => run(db, compiledFor(db), values),
    first: async (db, values) => (await run(db, compiledFor(db), values))[0],
    later: async (trx, values) => void (await run(trx, laterFor(trx), values)),
    async firstWithNext(trx, values) {
      const { asked } = await sendWithNext(trx, fill(withNextFor(trx), values));
      const row = asked.then(({ rows }) => rows[0]);
      // Nobody waits for it before the next statement was answered, which may have failed with it.
      row.catch(() => {});
      return { row };
    },
  };
}

/** The same for values that are given in the order in which they stand in the text: for many of them, names cost more than the statement. */
export function statementInOrder<O>(
  build: (db: Database) => Built<O>,
  { isLater = false } = {},
): (db: Database, parameters: readonly unknown[]) => Promise<QueryResult<O>> {
  const compiledFor = compileOnce(build, { isNamed: true, when: isLater ? LATER : "" });
  return (db, parameters) => send(db, { ...compiledFor(db), parameters });
}

function compileOnce<O>(
  build: (db: Database) => Built<O>,
  { isNamed, when = "" }: { isNamed: boolean; when?: When | "" },
): (db: Database) => CompiledQuery<O> {
  // By adapter, because a database and all its transactions share one.
  const compiled = new WeakMap<object, CompiledQuery<O>>();
  return (db) => {
    const { adapter, plugins } = db.getExecutor();
    // A plugin sees every query while it is compiled, so with one it is compiled each time.
    let query = plugins.length === 0 ? compiled.get(adapter) : undefined;
    if (!query) {
      const built = build(db).compile(db);
      query = { ...built, sql: `${built.sql}${when}` };
      if (isNamed) names.set(query.sql, nameFor(query.sql));
      if (plugins.length === 0) compiled.set(adapter, query);
    }
    return query;
  };
}

/** An adapter may have a way to its database that does not lead through Kysely; undefined: not for this query. */
export type Shortcut = {
  shortcut<O>(query: CompiledQuery<O>, isTransaction: boolean): Promise<QueryResult<O>> | undefined;
};

/** Straight to the connection: without plugins, which would see the result, Kysely's own way does nothing more and takes twice as long. */
function send<O>(db: Database, query: CompiledQuery<O>): Promise<QueryResult<O>> {
  const executor = db.getExecutor();
  if (executor.plugins.length > 0) return db.executeQuery<O>(query);
  const { shortcut } = executor.adapter as Partial<Shortcut>;
  return (
    shortcut?.(query, db.isTransaction) ??
    executor.provideConnection((connection) => connection.executeQuery<O>(query))
  );
}

/** Kysely lets a transaction ask one thing at a time. Wrapped, the answer is nothing that it would wait for. */
async function sendWithNext<O>(
  trx: Trx,
  query: CompiledQuery<O>,
): Promise<{ asked: Promise<QueryResult<O>> }> {
  const executor = trx.getExecutor();
  const { shortcut } = executor.adapter as Partial<Shortcut>;
  const asked = executor.plugins.length > 0 ? undefined : shortcut?.(query, true);
  if (asked) return { asked };
  return executor.provideConnection(async (connection) => ({ asked: connection.executeQuery<O>(query) }));
}

/** By text, because that is all that reaches a connection. One text has one name in every release. */
const names = new Map<string, string>();

const nameFor = (text: string): string =>
  `latchkey_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;

/** Behind a text that is sent with the next one: nobody waits for its answer, or only after that. */
const LATER = " -- later";
const WITH_NEXT = " -- with next";
type When = typeof LATER | typeof WITH_NEXT;

export function whenOf(text: string): "at once" | "later" | "with next" {
  if (text.endsWith(LATER)) return "later";
  return text.endsWith(WITH_NEXT) ? "with next" : "at once";
}

export const nameOf = (text: string): string | undefined => names.get(text);

type Place = { [PLACE]: string };
const PLACE = Symbol("place");
const places = new Proxy({}, { get: (_, name): Place => ({ [PLACE]: String(name) }) });

/** What the query holds itself is no place holder, and stays. */
function valueAt(values: object, parameter: unknown): unknown {
  const name = (parameter as Place | null | undefined)?.[PLACE];
  if (name === undefined) return parameter;
  const value = (values as Record<string, unknown>)[name];
  if (value === undefined) throw new Error(`the statement has no value for ${name}`);
  return value;
}
