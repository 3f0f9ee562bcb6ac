import pg from "pg";

type Asked = { text: string; values: readonly unknown[]; name: string | undefined };
type Result = pg.QueryResult;
type Connection = Parameters<pg.Query["submit"]>[0];

/** One statement. The driver is given a query of its own making: from a configuration it would copy every property by its descriptor. */
export const ask = (client: pg.ClientBase, asked: Asked): Promise<Result> => submit(client, asked);

const BEGIN = { text: "begin", values: [], name: "latchkey_begin" };

/** When the connection is made, because the driver takes the first answer to a parse for that of the statement which follows. */
export const prepareBegin = (client: pg.ClientBase): Promise<unknown> =>
  submit(client, BEGIN, {
    prepare(connection: Connection) {
      connection.parse({ ...BEGIN, types: [] }, true);
      connection.sync();
    },
  });

/**
 * A transaction's first statement together with its begin: a round trip less. Both come before one Sync, so a server that cannot begin
 * does not carry out the statement either; behind a begin with a Sync of its own it would, and would commit it alone.
 */
export const askWithBegin = (client: pg.ClientBase, asked: Asked): Promise<Result> =>
  submit(client, asked, { isToBegin: true });

/** What the driver makes of the server's description of a statement's rows. */
type Shape = { fields: unknown; _parsers: unknown; _prebuiltEmptyResultObject: unknown };

/** The driver's own query, of which its types do not say all. */
type DriverQuery = {
  name?: string | undefined;
  queryMode?: string;
  _result: Shape;
  _accumulateRows: boolean;
  prepare(connection: Connection): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
};
const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: (error: Error | null, result: Result) => void,
) => DriverQuery;

/**
 * Has its rows described by the server the first time that its name is used on a connection. They stay so for as long as the name is good:
 * the server refuses to run a prepared statement whose columns have changed.
 */
class Query extends DriverQuery {
  isToBegin = false;

  override prepare(connection: Connection): void {
    if (this.isToBegin) {
      connection.bind({ statement: BEGIN.name }, true);
      connection.execute({}, true);
    }
    const { shapes, withoutDescribe } = describedOn(connection);
    const shape = this.name === undefined ? undefined : shapes.get(this.name);
    if (shape) {
      Object.assign(this._result, shape);
      this._accumulateRows = true;
    }
    super.prepare(shape ? withoutDescribe : connection);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.isToBegin) {
      // This was the begin's.
      this.isToBegin = false;
      return;
    }
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    const { shapes } = describedOn(connection);
    if (this.name !== undefined && !shapes.has(this.name))
      shapes.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
    super.handleCommandComplete(message, connection);
  }
}

/** By the names of statements, and the connection as one that asks for no description. */
type Described = { shapes: Map<string, Shape>; withoutDescribe: Connection };
const described = new WeakMap<Connection, Described>();

function describedOn(connection: Connection): Described {
  const there = described.get(connection);
  if (there) return there;
  const withoutDescribe = Object.create(connection, { describe: { value() {} } });
  const made: Described = { shapes: new Map(), withoutDescribe };
  described.set(connection, made);
  return made;
}

function submit(
  client: pg.ClientBase,
  { text, values, name }: Asked,
  how: Partial<Pick<Query, "isToBegin" | "prepare">> = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const query = new Query(text, values, (error, result) => (error ? reject(error) : resolve(result)));
    // Also where there are no values: a simple query has no name, and a Sync of its own.
    if (name || how.isToBegin) Object.assign(query, { name, queryMode: "extended" }, how);
    client.query(query as unknown as pg.Query);
  });
}
