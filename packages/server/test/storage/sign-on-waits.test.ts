import pg from "pg";
import { expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { postgresEngine } from "../support/engines.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { createFederation, type SignedOn } from "../support/federation.ts";
import { ADA, startHostileIdp } from "../support/hostile-idp.ts";
import { until } from "../support/until.ts";

/** Which transactions of sign-ons wait for each other on PostgreSQL. */

test("sixteen new shoppers at once, 10 ms from the database: no transaction waits for another", async ({
  skip,
  onTestFinished,
}) => {
  if (!postgresEngine.isHere) skip("this engine is not installed");
  const database = await postgresEngine.create();
  const url = new URL(database.url);
  const line = await startFaultProxy(Number(url.port));
  url.port = String(line.port);
  const idp = await startHostileIdp();
  const f = await createFederation({ databaseUrl: url.href, idp });
  onTestFinished(async () => {
    await f.latchkey.storage.close();
    await idp.close();
    await line.close();
    await database.drop();
  });
  const made: SignedOn[] = [];
  for (let index = 0; index < 17; index++) {
    idp.person = { ...ADA, sub: `new ${index}`, email: `new-${index}@shop.example` };
    made.push(await f.signOn());
  }
  // The first redemption creates the signing key.
  await f.redeem(made.pop() as SignedOn);
  line.toServer.delayMs = 10;
  line.toClient.delayMs = 10;
  const answers = await Promise.all(made.map((signedOn) => f.redeem(signedOn)));
  expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
});

test("beside the previous release, which locks the realm alone, the second sign-on gets the first one's customer (T52, I5)", async ({
  skip,
  onTestFinished,
}) => {
  if (!postgresEngine.isHere) skip("this engine is not installed");
  const database = await postgresEngine.create();
  const idp = await startHostileIdp();
  const f = await createFederation({ databaseUrl: database.url, idp });
  const [before, witness] = [database.url, database.url].map(
    (url) => new pg.Client({ connectionString: url }),
  );
  onTestFinished(async () => {
    await before?.end();
    await witness?.end();
    await f.latchkey.storage.close();
    await idp.close();
    await database.drop();
  });
  await before?.connect();
  await witness?.connect();
  idp.person = { ...ADA, sub: "of both" };
  // The first redemption creates the signing key.
  await f.redeem(await f.signOn());
  const customerId = newId();
  const isWaiting = async () => {
    const waits =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into%identities%'";
    return (await witness?.query(waits))?.rowCount === 1;
  };
  // Copies of existing rows for a new person: rows that the other release has written and not yet committed.
  const rows: [string, object][] = [
    ["customers", { id: customerId }],
    ["customer_identities", { id: newId(), customer_id: customerId, subject: "new" }],
  ];
  idp.person = { ...ADA, sub: "new" };
  const signedOn = await f.signOn();
  await before?.query("begin");
  for (const [table, changes] of rows)
    await before?.query(
      `insert into ${table} select (jsonb_populate_record(${table}, $1)).* from ${table} limit 1`,
      [JSON.stringify(changes)],
    );
  const redeeming = f.redeem(signedOn);
  await until(isWaiting);
  await before?.query("commit");
  const answer = await redeeming;
  expect([answer.status, answer.body.data?.customer_id]).toEqual([200, customerId]);
});
