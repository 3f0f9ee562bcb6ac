import { setTimeout as sleep } from "node:timers/promises";
import { allocatorOfImage } from "../packages/server/test/support/allocator.ts";
import { deploy } from "../packages/server/test/support/deployed.ts";
import { measureRound } from "./measure/measure.ts";
import { createProgress, type Progress } from "./measure/progress.ts";
import { type Session, withSession } from "./measure/session.ts";
import * as words from "./report/words.ts";
import { createStore, envOf, serveLatchkey, targetOf } from "./servers/latchkey.ts";
import { workloads } from "./workloads/all.ts";

/**
 * Memory of a service when idle, right after load and a minute later: as in an image, if the image's allocator is
 * installed, and from the sources with the system's allocator. `npm run bench:memory` passes NODE_OPTIONS and
 * LD_PRELOAD to the service from the sources.
 */
export type Memory = { image: MemoryCourse | undefined; sources: MemoryCourse };

type MemoryCourse = {
  idleBytes: number;
  loadedBytes: number;
  afterLoadBytes: number;
  idleUsPerSecond: number;
};

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

/** Steps of progress for both services. */
export const MEMORY_STEPS = 2 * (LOAD.length + 2);

type Deps = Session & { progress: Progress };

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

type Form = { env: Record<string, string>; program?: string };

async function follow(
  { databases, load, idp, progress }: Deps,
  called: string,
  form: Form,
): Promise<MemoryCourse> {
  const env = envOf(await databases.create("sqlite"), idp);
  const made = await createStore(env);
  const { server, url } = await serveLatchkey({ ...env, ...form.env }, form);
  try {
    progress.step(`memory, ${called}: idle`);
    await sleep(SETTLED_MS);
    const idle = await server.usage();
    const runner = { server, target: await targetOf(url, idp, made) };
    for (const [name, count] of LOAD) {
      progress.step(`memory, ${called}: ${name}`);
      const workload = workloads.find((one) => one.name === name);
      if (!workload) throw new Error(`there is no workload ${name}`);
      await measureRound({ load, databases }, runner, workload, { count });
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

function describe({ idleBytes, loadedBytes, afterLoadBytes, idleUsPerSecond }: MemoryCourse): string {
  const [idle, loaded, after] = [idleBytes, loadedBytes, afterLoadBytes].map(words.megabytes);
  return (
    `resident when idle ${idle}, after load ${loaded}, a minute later ${after} ` +
    `(${words.times(afterLoadBytes / idleBytes)} ×); CPU time when idle ${words.time(idleUsPerSecond)} a second`
  );
}

if (import.meta.main)
  await withSession(async (session) => {
    const { NODE_OPTIONS = "", LD_PRELOAD = "" } = process.env;
    const progress = createProgress(MEMORY_STEPS);
    const { image, sources } = await measureMemory({ ...session, progress }, { NODE_OPTIONS, LD_PRELOAD });
    progress.end();
    console.log(`as an image has it: ${image ? describe(image) : "skipped, its allocator is not installed"}`);
    console.log(`from the sources: ${describe(sources)}`);
  });
