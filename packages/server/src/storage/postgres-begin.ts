import pg from "pg";

/**
 * A transaction's first statement together with its begin: a round trip less. Both come before one Sync, so a server that cannot begin
 * does not carry out the statement either; behind a begin with a Sync of its own it would, and would commit it alone.
 *
 * The begin was parsed when the connection was made: the driver takes the first answer to a parse for that of the statement.
 */
const BEGIN = "latchkey_begin";

export const prepareBegin = (client: pg.ClientBase): Promise<unknown> =>
  submit(client, { name: BEGIN, text: "begin" }, (connection) => {
    connection.parse({ name: BEGIN, text: "begin", types: [] }, true);
    connection.sync();
  });

type Asked = { text: string; values: unknown[]; name: string | undefined };

export async function askWithBegin(client: pg.ClientBase, asked: Asked): Promise<pg.QueryResult> {
  const results = await submit(client, asked, (connection, submitStatement) => {
    connection.stream.cork();
    connection.bind({ statement: BEGIN }, true);
    connection.execute({}, true);
    submitStatement(connection);
    connection.stream.uncork();
  });
  // Of several commands the driver makes a list.
  return (results as pg.QueryResult[]).at(-1) as pg.QueryResult;
}

type Submit = pg.Query["submit"];

function submit(
  client: pg.ClientBase,
  asked: Partial<Asked>,
  how: (connection: Parameters<Submit>[0], submitStatement: Submit) => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const config = { ...asked, queryMode: "extended" };
    const query = new pg.Query(config as pg.QueryConfig, (error, results) =>
      error ? reject(error) : resolve(results),
    );
    const submitStatement = query.submit.bind(query);
    query.submit = (connection) => how(connection, submitStatement);
    client.query(query);
  });
}
