import pg from "pg";

export type AskedStatement = { text: string; values: readonly unknown[]; name: string | undefined };

/** Undefined: the server skipped the statement, because one before it failed. */
export type StatementOutcome = { result?: pg.QueryResult; error?: unknown } | undefined;

/**
 * Sends the statements in one write, before one Sync, so the server skips all that follow one that fails. A transaction
 * whose `begin` fails therefore carries out none of its statements: behind a Sync of their own, they would be committed
 * one by one.
 */
export const sendTogether = (
  client: pg.ClientBase,
  asked: readonly AskedStatement[],
  types: pg.CustomTypesConfig,
): Promise<StatementOutcome[]> =>
  new Promise((resolve) => client.query(new StatementBatch(asked, types, resolve) as unknown as pg.Query));

type DriverConnection = Parameters<pg.Query["submit"]>[0] & {
  submittedNamedStatements: Record<string, string>;
};

/** The driver's own query: these members are the ones that the driver's client calls, and its types leave them out. */
type DriverQuery = {
  text: string;
  name: string | undefined;
  queryMode: "extended" | undefined;
  _result: { _types: pg.CustomTypesConfig };
  prepare(connection: DriverConnection): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
  handleReadyForQuery(connection: DriverConnection): void;
  handleError(error: unknown, connection: DriverConnection): void;
};
type Callback = (error: unknown, result: pg.QueryResult) => void;
const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: Callback,
) => DriverQuery;

/** The driver copies a configuration property by property, which takes longer than all the rest of a query. */
function queryOf({ text, values, name }: AskedStatement, types: pg.CustomTypesConfig, callback: Callback) {
  const query = new DriverQuery(text, values, callback);
  query.name = name;
  query.queryMode = "extended";
  // As the driver's client does for a query without types of its own.
  query._result._types = types;
  return query;
}

/** A single query to the driver's client, which keeps its queries in order; many statements to the server. */
class StatementBatch extends DriverQuery {
  readonly #statements: readonly DriverQuery[];
  readonly #outcomes: StatementOutcome[];
  readonly #resolve: (outcomes: StatementOutcome[]) => void;
  /** The statement that the server's next message is about. */
  #at = 0;

  constructor(
    asked: readonly AskedStatement[],
    types: pg.CustomTypesConfig,
    resolve: (outcomes: StatementOutcome[]) => void,
  ) {
    super("", [], () => {});
    this.queryMode = "extended";
    this.#outcomes = asked.map(() => undefined);
    this.#statements = asked.map((one, at) =>
      queryOf(one, types, (error, result) => {
        this.#outcomes[at] = error ? { error } : { result };
      }),
    );
    this.#resolve = resolve;
  }

  override prepare(connection: DriverConnection): void {
    const withoutSync: DriverConnection = Object.create(connection, { sync: { value() {} } });
    for (const [at, statement] of this.#statements.entries()) {
      statement.prepare(withoutSync);
      // A value that cannot be written: what follows is not sent, as the server would skip what follows an error.
      if (this.#outcomes[at]) break;
    }
    connection.sync();
    this.#turnTo(0);
  }

  override handleRowDescription(message: unknown): void {
    this.#statements[this.#at]?.handleRowDescription(message);
  }

  override handleDataRow(message: unknown): void {
    this.#statements[this.#at]?.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    this.#statements[this.#at]?.handleCommandComplete(message, connection);
    this.#turnTo(this.#at + 1);
  }

  override handleReadyForQuery(connection: DriverConnection): void {
    for (const statement of this.#statements.slice(0, this.#at)) statement.handleReadyForQuery(connection);
    this.#resolve(this.#outcomes);
  }

  override handleError(error: unknown, connection: DriverConnection): void {
    this.#outcomes[this.#at] ??= { error };
    // The server has not read the Parse of these.
    for (const { name } of this.#statements.slice(this.#at))
      if (name !== undefined) delete connection.submittedNamedStatements[name];
    this.handleReadyForQuery(connection);
  }

  /** The driver's client keeps account of prepared statements by these two members. */
  #turnTo(at: number): void {
    this.#at = at;
    this.name = this.#statements[at]?.name;
    this.text = this.#statements[at]?.text ?? "";
  }
}
