import { createHash } from "node:crypto";
import type { CompiledQuery } from "kysely";
import type { Database } from "./storage.ts";

/**
 * A query that is built and compiled once for each database, for paths where building it anew costs more than running it.
 * `build` sees a place holder under each name; a run puts its values there. So it must not look at what it is given: a query
 * whose text depends on a value (one condition more, a list, `is null`) is no statement.
 */
export type Statement<P, O> = {
  all(db: Database, values: P): Promise<O[]>;
  first(db: Database, values: P): Promise<O | undefined>;
};

/** A query of the builder, or one written with `sql`. */
type Built<O> = { compile(db: Database): CompiledQuery<O> };

/**
 * PostgreSQL keeps its plan under a name, unless `isNamed` is false: for a text with a limit, of which the planner believes,
 * when it does not see the value, that it takes a tenth of the table.
 */
export function statement<P extends object, O>(
  build: (db: Database, places: P) => Built<O>,
  { isNamed = true } = {},
): Statement<P, O> {
  // By adapter, because a database and all its transactions share one.
  const compiled = new WeakMap<object, CompiledQuery<O>>();

  async function all(db: Database, values: P): Promise<O[]> {
    const { adapter, plugins } = db.getExecutor();
    // A plugin sees every query while it is compiled, so with one it is compiled each time.
    let query = plugins.length === 0 ? compiled.get(adapter) : undefined;
    if (!query) {
      query = build(db, places as P).compile(db);
      if (isNamed) names.set(query.sql, nameFor(query.sql));
      if (plugins.length === 0) compiled.set(adapter, query);
    }
    const parameters = query.parameters.map((parameter) => valueAt(values, parameter));
    return (await db.executeQuery<O>({ ...query, parameters })).rows;
  }

  return { all, first: async (db, values) => (await all(db, values))[0] };
}

/** By text, because that is all that reaches a connection. One text has one name in every release. */
const names = new Map<string, string>();

const nameFor = (text: string): string =>
  `latchkey_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;

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
