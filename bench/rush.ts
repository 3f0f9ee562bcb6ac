import { parseArgs } from "node:util";
import { createHttpClient } from "./http-client.ts";
import { startLatchkey } from "./latchkey.ts";
import { figureOf, type Runner } from "./measure.ts";
import { openPlaces } from "./places.ts";
import { startServer } from "./processes.ts";
import { bearer, source } from "./workloads/workload.ts";

/**
 * A rush: so many sign-ins with e-mail and password at one store at the same moment, each of them once. Says how many were
 * served and when the last of them was. `npm run bench:rush -- --beside <checkout>` asks another checkout in turn.
 */
const SHOPPERS = 60;
const ROUNDS = 5;
const PASSWORD = "correct horse battery staple";
const json = { "Content-Type": "application/json" };

const { values } = parseArgs({ options: { beside: { type: "string" } } });
const places = await openPlaces();
const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("idp.ts");

const start = async (name: string, checkout?: string) => {
  const databaseUrl = await places.newDatabase("sqlite");
  const runner = await startLatchkey({ databaseUrl, idp: idp.origin, ...(checkout && { checkout }) });
  for (let shopper = 0; shopper < SHOPPERS; shopper++) await register(runner, shopper);
  return { name, runner, served: [] as number[], lastMs: [] as number[] };
};

const client = createHttpClient();
const emailOf = (shopper: number) => `shopper-${shopper}@shop.example`;
const post = (url: string, token: string, data: object) =>
  client.send({
    url,
    method: "POST",
    headers: { ...bearer(token), ...json, ...source() },
    body: JSON.stringify({ data }),
  });

async function register({ target: { url, accessToken } }: Runner, shopper: number): Promise<void> {
  const data = { type: "customer", name: "Ada", email: emailOf(shopper), password: PASSWORD };
  const { status, body } = await post(`${url}/v2/customers`, accessToken, data);
  if (status !== 201) throw new Error(body);
}

async function rush({ target: { url, implicitToken } }: Runner): Promise<{ served: number; lastMs: number }> {
  const startedMs = performance.now();
  let lastMs = 0;
  const signIn = async (shopper: number) => {
    const data = { type: "token", email: emailOf(shopper), password: PASSWORD };
    const { status } = await post(`${url}/v2/customers/tokens`, implicitToken, data);
    if (status === 200) lastMs = performance.now() - startedMs;
    return status;
  };
  const statuses = await Promise.all(Array.from({ length: SHOPPERS }, (_, shopper) => signIn(shopper)));
  return { served: statuses.filter((status) => status === 200).length, lastMs };
}

const contestants = [
  await start("Latchkey"),
  ...(values.beside ? [await start("before", values.beside)] : []),
];
for (let round = 0; round < ROUNDS; round++)
  for (const { runner, served, lastMs } of contestants) {
    const seen = await rush(runner);
    served.push(seen.served);
    lastMs.push(seen.lastMs);
  }
for (const { name, runner, served, lastMs } of contestants) {
  const [many, late] = [figureOf(served), figureOf(lastMs)];
  console.log(
    `${name}: ${many.median} of ${SHOPPERS} served (${many.low} to ${many.high}), ` +
      `the last after ${Math.round(late.median)} ms (${Math.round(late.low)} to ${Math.round(late.high)})`,
  );
  await runner.server.stop();
}
client.close();
await idpProcess.stop();
await places.remove();
