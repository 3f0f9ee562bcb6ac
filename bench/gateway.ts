import { shownIn, startNginx } from "../e2e/gateways.ts";
import { freePort } from "../packages/server/test/support/postgres-server.ts";
import { createHttpClient } from "./http-client.ts";
import { startLatchkey } from "./latchkey.ts";
import { figureOf } from "./measure.ts";
import { openPlaces } from "./places.ts";
import { type Process, startServer } from "./processes.ts";

/**
 * What the gateway check costs: requests a second through nginx to a small service, with the check that the guide configures
 * and without it; and the check alone beside that service alone. One load generator, turn about, several rounds.
 */
const ROUNDS = 7;
const ROUND_MS = 1500;
const WARM_MS = 3000;
const CONNECTIONS = 16;

const places = await openPlaces();
const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("idp.ts");
const { ready: cart, ...cartProcess } = await startServer<{ url: string }>("yardsticks/cart.ts");
const { target, server } = await startLatchkey({
  databaseUrl: await places.newDatabase("sqlite"),
  idp: idp.origin,
});

const hostOf = (url: string): string => new URL(url).host;
const shown = shownIn("docs/guides/gateway.md", "nginx")
  .replaceAll("127.0.0.1:4000", hostOf(target.url))
  .replaceAll("127.0.0.1:5000", hostOf(cart.url));

async function gateway(configuration: string) {
  const port = await freePort();
  return startNginx(
    configuration.replace("listen 8080;", `listen 127.0.0.1:${port};`),
    `http://127.0.0.1:${port}`,
  );
}

const checked = await gateway(shown);
/** The same, without the check and what it says. */
const unchecked = await gateway(
  shown
    .replaceAll(/^ *auth_request.*\n/gm, "")
    .replaceAll(/^.*\$latchkey_.*\n/gm, "")
    .replace("error_page 500 = @not_checked;", ""),
);

type Contestant = {
  name: string;
  url: string;
  status: number;
  process?: Pick<Process, "usage">;
  rates: number[];
  cpuUs: number[];
};
const contestants: Contestant[] = [
  { name: "nginx, no check", url: `${unchecked.url}/`, status: 200, rates: [], cpuUs: [] },
  { name: "nginx, with the check", url: `${checked.url}/`, status: 200, rates: [], cpuUs: [] },
  {
    name: "the service alone (bare node:http)",
    url: `${cart.url}/`,
    status: 200,
    process: cartProcess,
    rates: [],
    cpuUs: [],
  },
  {
    name: "the check alone",
    url: `${target.url}/gateway/check?customer=required`,
    status: 204,
    process: server,
    rates: [],
    cpuUs: [],
  },
];

const client = createHttpClient();
const headers = {
  Authorization: `Bearer ${target.implicitToken}`,
  "X-Customer-Token": target.customer.token,
};

async function run({ name, url, status }: Contestant, forMs: number): Promise<number> {
  const startedMs = performance.now();
  let count = 0;
  const one = async () => {
    while (performance.now() - startedMs < forMs) {
      const answer = await client.send({ url, headers });
      if (answer.status !== status) throw new Error(`${name} answers ${answer.status}: ${answer.body}`);
      count++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  return count;
}

for (const contestant of contestants) await run(contestant, WARM_MS);
for (let round = 0; round < ROUNDS; round++) {
  process.stderr.write(`\rround ${round + 1} of ${ROUNDS}`);
  for (const contestant of contestants) {
    const before = await contestant.process?.usage();
    const count = await run(contestant, ROUND_MS);
    const after = await contestant.process?.usage();
    contestant.rates.push((count / ROUND_MS) * 1000);
    if (before && after) contestant.cpuUs.push((after.cpuUs - before.cpuUs) / count);
  }
}
process.stderr.write("\r");
for (const { name, rates, cpuUs } of contestants) {
  const { median, low, high } = figureOf(rates);
  const cpu = cpuUs.length > 0 ? `  CPU ${figureOf(cpuUs).median.toFixed(0)} µs` : "";
  console.log(
    `${name.padEnd(36)}${median.toFixed(0).padStart(7)} a second (${low.toFixed(0)} to ${high.toFixed(0)})${cpu}`,
  );
}
const [without, withCheck] = contestants.map(({ rates }) => rates) as [number[], number[]];
const shares = figureOf(withCheck.map((rate, round) => (100 * rate) / (without[round] as number)));
console.log(
  `With the check nginx serves ${shares.median.toFixed(0)} % (${shares.low.toFixed(0)} to ${shares.high.toFixed(0)}) of what it serves without.`,
);

client.close();
await checked.close();
await unchecked.close();
for (const one of [server, cartProcess, idpProcess]) await one.stop();
await places.remove();
