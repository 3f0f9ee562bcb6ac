import { setTimeout as sleep } from "node:timers/promises";
import { createStore, envOf, furnish, serveLatchkey } from "./latchkey.ts";
import { measureRound, perSecond, type Runner } from "./measure.ts";
import { openPlaces } from "./places.ts";
import { startServer } from "./processes.ts";
import * as words from "./words.ts";
import { workloads } from "./workloads/all.ts";

/**
 * Memory of the service before load, right after it and a minute later, and what that idle minute costs. Run it with
 * `npm run bench:memory`; NODE_OPTIONS and LD_PRELOAD are handed on to the service, to see what an option of Node's or another
 * allocator does.
 */
const LOAD = [
  ["sign-on, new shopper", 2000],
  ["authorize", 6000],
  ["callback", 1500],
  ["redeem", 2000],
  ["read settings", 12_000],
  ["read key", 12_000],
  ["read own customer", 12_000],
  ["PUT key", 3000],
  ["access token", 12_000],
  ["e-mail and password", 100],
] as const;
const SETTLED_MS = 12_000;
const AFTER_LOAD_MS = 60_000;

const places = await openPlaces();
const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("idp.ts");
const { ready: _, ...load } = await startServer("load.ts");
const env = envOf(await places.newDatabase("sqlite"), idp.origin);
const made = await createStore(env);
const { NODE_OPTIONS = "", LD_PRELOAD = "" } = process.env;
const { server, url } = await serveLatchkey({ ...env, NODE_OPTIONS, LD_PRELOAD });
try {
  await sleep(SETTLED_MS);
  const idle = await server.usage();
  const { id: keyId, client_id: clientId, client_secret: clientSecret } = made.application_key;
  const facts = await furnish(url, idp.origin, { clientId, clientSecret });
  const target = { contestant: "latchkey", url, idp: idp.origin, storeId: made.store.id, keyId } as const;
  const runner: Runner = { server, target: { ...target, clientId, clientSecret, ...facts } };
  for (const [name, count] of LOAD) {
    const workload = workloads.find((one) => one.name === name);
    if (!workload) throw new Error(`there is no workload ${name}`);
    const round = await measureRound({ load, places }, runner, workload, { count });
    console.log(
      `${name}: ${count}, ${Math.round(perSecond(round))} a second, ${words.time(round.cpuUs)} each`,
    );
  }
  const loaded = await server.usage();
  await sleep(AFTER_LOAD_MS);
  const after = await server.usage();
  const idleUsPerSecond = (after.cpuUs - loaded.cpuUs) / (AFTER_LOAD_MS / 1000);
  const ratio = words.times(after.rssBytes / idle.rssBytes);
  console.log(
    `resident when idle ${words.megabytes(idle.rssBytes)}, after load ${words.megabytes(loaded.rssBytes)}, ` +
      `a minute later ${words.megabytes(after.rssBytes)} (${ratio} ×); idle it uses ${words.time(idleUsPerSecond)} a second`,
  );
} finally {
  await server.stop();
  await load.stop();
  await idpProcess.stop();
  await places.remove();
}
