import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { QueryResult } from "kysely";

const MAX_PREPARED = 200;

type Prepared = {
  statement: StatementSync;
  execute<R>(parameters: readonly unknown[]): QueryResult<R>;
};

/** Statements by their text, prepared once. */
export function keepPrepared(file: DatabaseSync): (sql: string) => Prepared {
  const prepared = new Map<string, Prepared>();
  return (sql) => {
    let known = prepared.get(sql);
    if (!known) {
      known = prepare(file, sql);
      if (prepared.size >= MAX_PREPARED) prepared.clear();
      prepared.set(sql, known);
    }
    return known;
  };
}

function prepare(file: DatabaseSync, sql: string): Prepared {
  const statement = file.prepare(sql);
  statement.setReturnArrays(true);
  const isReader = statement.columns().length > 0;
  let width = 0;
  let toRow: RowMaker = (values) => values;
  return {
    statement,
    execute<R>(parameters: readonly unknown[]) {
      const values = parameters as readonly SQLInputValue[];
      if (isReader) {
        const found = statement.all(...values) as unknown as unknown[][];
        // At the first run; and after a migration by another process has added a column, which `*` then includes.
        if (found[0] && found[0].length !== width) {
          width = found[0].length;
          toRow = rowMaker(statement.columns().map(({ name }) => name));
        }
        return { rows: found.map(toRow) as R[] };
      }
      const { changes, lastInsertRowid } = statement.run(...values);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    },
  };
}

type RowMaker = (values: unknown[]) => unknown;

/**
 * A function that puts a row's values under their names, with the names written into its code: V8 then gives all rows
 * of a statement one hidden class. The rows of node:sqlite are dictionaries, which take twice as long to make.
 */
function rowMaker(names: readonly string[]): RowMaker {
  const members = names.map((name, at) => `${JSON.stringify(name)}: values[${at}]`);
  return new Function("values", `return { ${members.join(", ")} };`) as RowMaker;
}
