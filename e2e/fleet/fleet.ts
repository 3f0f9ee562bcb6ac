import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LATCHKEY } from "../../packages/server/test/support/command.ts";
import { type FaultProxy, startFaultProxy } from "../../packages/server/test/support/fault-proxy.ts";
import {
  freePort,
  type PostgresServer,
  startPostgres,
} from "../../packages/server/test/support/postgres-server.ts";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import { startValkey, type ValkeyServer } from "../../packages/server/test/support/valkey-server.ts";
import { type HonestIdp, startHonestIdp } from "../support/honest-idp.ts";
import { newPlace, type Running, serve } from "../support/running.ts";

/** Real instances on a real PostgreSQL, each through its own proxy with faults. */
export type Instance = {
  name: string;
  url: string;
  /** Proxies to PostgreSQL and to Valkey; without Valkey the second one has no target. */
  database: FaultProxy;
  valkey: FaultProxy;
  /** Resolves when the instance is ready. `program`: that of another release. */
  start(program?: string): Promise<void>;
  /** Sends SIGTERM, and returns the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
};

export type Fleet = {
  /** The address of a balancer. */
  publicUrl: string;
  instances: Instance[];
  postgres: PostgresServer;
  idp: HonestIdp;
  valkey: ValkeyServer | undefined;
  /** For commands beside the instances: directly to the database, with the release of the fleet's start. */
  env: Record<string, string>;
  program: string;
  /** The complete output of all instances. */
  logs(): string;
  close(): Promise<void>;
};

const binaries = process.platform === "linux" ? findProgram("postgres") : undefined;
export const canRunFleet = binaries !== undefined;

const NAMES = ["A", "B", "C"] as const;

type Options = { program?: string; withValkey?: boolean };

export async function startFleet({ program = LATCHKEY, withValkey = false }: Options = {}): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-fleet-"));
  const postgres = await startPostgres(binaries as string);
  const valkey = withValkey ? await startValkey() : undefined;
  const idp = await startHonestIdp();
  const { env: own, leave } = await newPlace(postgres.url);
  const publicUrl = `http://localhost:${await freePort()}`;
  const env = {
    ...own,
    LATCHKEY_PUBLIC_URL: publicUrl,
    LATCHKEY_EGRESS_ALLOW: idp.origin,
    NODE_OPTIONS: `--import=${new URL("movable-clock.ts", import.meta.url)}`,
  };
  const runs: Running[] = [];

  async function addInstance(name: string): Promise<Instance> {
    const database = await startFaultProxy(Number(new URL(postgres.url).port));
    const toValkey = await startFaultProxy(valkey?.port ?? 0);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const ofInstance = {
      ...env,
      PORT: String(port),
      LATCHKEY_DATABASE_URL: database.via(postgres.url),
      ...(valkey && { LATCHKEY_VALKEY_URL: toValkey.via(valkey.url) }),
    };
    let running: Running | undefined;
    const instance: Instance = {
      name,
      url,
      database,
      valkey: toValkey,
      async start(of = program) {
        // Starts again after a failure, as a supervisor does.
        for (let tries = 0; ; tries++) {
          try {
            running = await serve({ folder, env: ofInstance, url, leave }, ["serve"], "pipe", {
              program: of,
            });
            runs.push(running);
            return;
          } catch (error) {
            if (tries === 5) throw error;
          }
        }
      },
      async stop() {
        running?.child.kill("SIGTERM");
        return running?.exited ?? null;
      },
      async kill() {
        running?.child.kill("SIGKILL");
        await running?.exited;
      },
      signal: (signal) => void running?.child.kill(signal),
    };
    await instance.start();
    return instance;
  }

  const instances: Instance[] = [];
  // In sequence, because the first one migrates the tables.
  for (const name of NAMES) instances.push(await addInstance(name));

  return {
    publicUrl,
    instances,
    postgres,
    valkey,
    idp,
    env,
    program,
    logs: () => runs.flatMap((running) => running.logLines()).join("\n"),
    async close() {
      for (const { child } of runs) child.kill("SIGKILL");
      for (const { exited } of runs) await exited;
      for (const line of instances.flatMap((instance) => [instance.database, instance.valkey]))
        await line.close();
      await idp.close();
      postgres.resume();
      await postgres.remove();
      await valkey?.remove();
      leave();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
