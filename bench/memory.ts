import { setTimeout as sleep } from "node:timers/promises";
import { allocatorOfImage } from "../packages/server/test/support/allocator.ts";
import { deploy } from "../packages/server/test/support/deployed.ts";
import { measureRound, type Runner } from "./measure/measure.ts";
import { createProgress, type Progress } from "./measure/progress.ts";
import * as words from "./report/words.ts";
import { openPlaces, type Places } from "./servers/databases.ts";
import { createStore, envOf, furnish, serveLatchkey } from "./servers/latchkey.ts";
import { type Process, startServer } from "./servers/process.ts";
import { workloads } from "./workloads/all.ts";

/**
 * Memory of a service of its own when idle, right after load and a minute later: as an image has it, where its allocator is installed,
 * and from the sources with the allocator of this system. `npm run bench:memory` hands NODE_OPTIONS and LD_PRELOAD on to the latter.
 */
export type Memory = { image: Course | undefined; sources: Course };

type Course = { idleBytes: number; loadedBytes: number; afterLoadBytes: number; idleUsPerSecond: number };

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

type Deps = { places: Places; load: Process; idp: string; progress: Progress };

/** It may be told to for each of two services. */
export const MEMORY_STEPS = 2 * (LOAD.length + 2);

export async function measureMemory(deps: Deps, env: Record<string, string> = {}): Promise<Memory> {
  const allocator = allocatorOfImage();
  const sources = await follow(deps, "from the sources", { env });
  if (!allocator) return { image: undefined, sources };
  const { program, remove } = await deploy();
  try {
    return { image: await follow(deps, "as an image has it", { env: allocator, program }), sources };
  } finally {
    remove();
  }
}

type Way = { env: Record<string, string>; program?: string };

async function follow({ places, load, idp, progress }: Deps, called: string, way: Way): Promise<Course> {
  const env = envOf(await places.newDatabase("sqlite"), idp);
  const made = await createStore(env);
  const { server, url } = await serveLatchkey({ ...env, ...way.env }, way);
  try {
    progress.step(`memory, ${called}: idle`);
    await sleep(SETTLED_MS);
    const idle = await server.usage();
    const { id: keyId, client_id: clientId, client_secret: clientSecret } = made.application_key;
    const facts = await furnish(url, idp, { clientId, clientSecret });
    const target = { contestant: "latchkey", url, idp, storeId: made.store.id, keyId } as const;
    const runner: Runner = { server, target: { ...target, clientId, clientSecret, ...facts } };
    for (const [name, count] of LOAD) {
      progress.step(`memory, ${called}: ${name}`);
      const workload = workloads.find((one) => one.name === name);
      if (!workload) throw new Error(`there is no workload ${name}`);
      await measureRound({ load, places }, runner, workload, { count });
    }
    const loaded = await server.usage();
    progress.step(`memory, ${called}: a minute after load`);
    await sleep(AFTER_LOAD_MS);
    const after = await server.usage();
    return {
      idleBytes: idle.rssBytes,
      loadedBytes: loaded.rssBytes,
      afterLoadBytes: after.rssBytes,
      idleUsPerSecond: (after.cpuUs - loaded.cpuUs) / (AFTER_LOAD_MS / 1000),
    };
  } finally {
    await server.stop();
  }
}

function describe({ idleBytes, loadedBytes, afterLoadBytes, idleUsPerSecond }: Course): string {
  const [idle, loaded, after] = [idleBytes, loadedBytes, afterLoadBytes].map(words.megabytes);
  return (
    `resident when idle ${idle}, after load ${loaded}, a minute later ${after} ` +
    `(${words.times(afterLoadBytes / idleBytes)} ×); idle it uses ${words.time(idleUsPerSecond)} a second`
  );
}

async function main(): Promise<void> {
  const { NODE_OPTIONS = "", LD_PRELOAD = "" } = process.env;
  const places = await openPlaces();
  const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("load/idp.ts");
  const { ready: _, ...load } = await startServer("load/generator.ts");
  const progress = createProgress(MEMORY_STEPS);
  try {
    const deps = { places, load, idp: idp.origin, progress };
    const { image, sources } = await measureMemory(deps, { NODE_OPTIONS, LD_PRELOAD });
    progress.end();
    console.log(`as an image has it: ${image ? describe(image) : "skipped, its allocator is not installed"}`);
    console.log(`from the sources: ${describe(sources)}`);
  } finally {
    await load.stop();
    await idpProcess.stop();
    await places.remove();
  }
}

if (import.meta.main) await main();
