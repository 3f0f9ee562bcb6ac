import { spawnSync } from "node:child_process";
import cluster from "node:cluster";
import { Agent, createServer, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../packages/server/test/support/postgres-server.ts";

/**
 * How connections that are kept spread over two processes, by who accepts them: the primary, which hands them on in turn (`in turn`); the
 * processes themselves, from one socket (`one socket`); or each from a socket of its own on the same port (`own sockets`, SO_REUSEPORT).
 * Every request keeps its process busy for a millisecond. Run it with `npm run bench:spread`. Linux.
 */
const WAYS = ["in turn", "one socket", "own sockets"] as const;
const PROCESSES = 2;
const CONNECTIONS = 64;
const ROUNDS = 5;

type Order = { port: number; reusePort: boolean };

const [, file = "", way] = process.argv;
if (cluster.isWorker) process.once("message", serve);
// Node reads who accepts once, with the first fork: each way has a primary of its own.
else if (way === undefined)
  for (const each of WAYS) spawnSync(process.execPath, [file, each], { stdio: "inherit" });
else await measure(way);

function serve({ port, reusePort }: Order): void {
  const server = createServer((_, response) => {
    const startedMs = performance.now();
    while (performance.now() - startedMs < 1);
    response.end(String(process.pid));
  });
  server.listen({ port, host: "127.0.0.1", reusePort }, () => process.send?.("listens"));
}

async function measure(way: string): Promise<void> {
  cluster.schedulingPolicy = way === "in turn" ? cluster.SCHED_RR : cluster.SCHED_NONE;
  const port = await freePort();
  const workers = [];
  for (let count = 0; count < PROCESSES; count++) {
    const worker = cluster.fork();
    const listens = new Promise((resolve) => worker.once("message", resolve));
    worker.send({ port, reusePort: way === "own sockets" } satisfies Order);
    await listens;
    workers.push(worker);
  }
  for (const [name, pauseMs] of [
    ["at once", 0],
    ["one every 2 ms", 2],
  ] as const) {
    const spreads: string[] = [];
    for (let round = 0; round < ROUNDS; round++) spreads.push(await connect(port, pauseMs));
    console.log(`${way.padEnd(12)}${CONNECTIONS} connections, ${name.padEnd(15)}: ${spreads.join(", ")}`);
  }
  await Promise.all(
    workers.map(async (worker) => {
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      worker.process.kill("SIGKILL");
      await ended;
    }),
  );
}

async function connect(port: number, pauseMs: number): Promise<string> {
  // One for each, so that none uses the connection of another.
  const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true }));
  const ask = (agent: Agent) =>
    new Promise<string>((resolve, reject) => {
      request({ port, host: "127.0.0.1", agent }, (answer) => {
        let text = "";
        answer.on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => resolve(text));
      })
        .on("error", reject)
        .end();
    });
  const asked: Promise<string>[] = [];
  for (const agent of agents) {
    asked.push(ask(agent));
    if (pauseMs > 0) await sleep(pauseMs);
  }
  const spread = Map.groupBy(await Promise.all(asked), (pid) => pid);
  for (const agent of agents) agent.destroy();
  const counts = [...spread.values()].map(({ length }) => length).sort((a, b) => b - a);
  return `${counts[0]}:${counts[1] ?? 0}`;
}
