import pg from "pg";

type Asked = { text: string; values: readonly unknown[]; name: string | undefined };
type Result = pg.QueryResult;

/** One statement. The driver is given a query of its own making: from a configuration it would copy every property by its descriptor. */
export const ask = (client: pg.ClientBase, asked: Asked): Promise<Result> => submit(client, asked);

const BEGIN: Asked = { text: "begin", values: [], name: "latchkey_begin" };

/** When the connection is made, because the driver takes the first answer to a parse for that of the statement which follows. */
export const prepareBegin = (client: pg.ClientBase): Promise<unknown> =>
  submit(client, BEGIN, (connection) => {
    connection.parse({ name: BEGIN.name as string, text: BEGIN.text, types: [] }, true);
    connection.sync();
  });

/**
 * A transaction's first statement together with its begin: a round trip less. Both come before one Sync, so a server that cannot begin
 * does not carry out the statement either; behind a begin with a Sync of its own it would, and would commit it alone.
 */
export async function askWithBegin(client: pg.ClientBase, asked: Asked): Promise<Result> {
  const results = await submit(client, asked, (connection, submitStatement) => {
    connection.stream.cork();
    connection.bind({ statement: BEGIN.name as string }, true);
    connection.execute({}, true);
    submitStatement(connection);
    connection.stream.uncork();
  });
  // Of several commands the driver makes a list.
  return (results as unknown as Result[]).at(-1) as Result;
}

type Query = pg.Query & { name?: string | undefined; queryMode?: string };
type Submit = pg.Query["submit"];
type Connection = Parameters<Submit>[0];

function submit(
  client: pg.ClientBase,
  { text, values, name }: Asked,
  how?: (connection: Connection, submitStatement: Submit) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const query: Query = new pg.Query(text, values as unknown[], (error, result) =>
      error ? reject(error) : resolve(result as unknown as Result),
    );
    // Also where there are no values: a simple query has no name, and a Sync of its own.
    if (how || name) {
      query.name = name;
      query.queryMode = "extended";
    }
    if (how) {
      const submitStatement = query.submit.bind(query);
      query.submit = (connection) => how(connection, submitStatement);
    }
    client.query(query);
  });
}
