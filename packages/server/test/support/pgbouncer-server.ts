import { spawn } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Engine, postgresEngine, type TestDatabase } from "./engines.ts";
import { freePort, unprivilegedUser } from "./postgres-server.ts";
import { findProgram } from "./programs.ts";
import { until } from "./until.ts";

const program = findProgram("pgbouncer");
const isHere = program !== undefined && postgresEngine.isHere;

/** A database of its own: at `url` through its own PgBouncer, at `directUrl` without. */
export type PooledDatabase = TestDatabase & { directUrl: string };

/** With the configuration of docs/several-instances.md; addresses, folder and password are the test's. */
async function createPooled(): Promise<PooledDatabase> {
  const database = await postgresEngine.create();
  const direct = new URL(database.url);
  const folder = mkdtempSync(join(tmpdir(), "latchkey-pgbouncer-"));
  const port = await freePort();
  const page = readFileSync(new URL("../../../../docs/several-instances.md", import.meta.url), "utf8");
  const [, shown = ""] = /```ini\n(\[databases\][\s\S]*?)```/.exec(page) ?? [];
  const configuration = shown
    .replace(
      /^latchkey = .*$/m,
      `latchkey = host=${direct.hostname} port=${direct.port} dbname=${direct.pathname.slice(1)}`,
    )
    .replace(/^listen_port = .*$/m, `listen_port = ${port}`)
    .replace(/^auth_type = .*$/m, "auth_type = trust")
    .replace(/^auth_file = .*$/m, `auth_file = ${folder}/users\nunix_socket_dir =`);
  writeFileSync(join(folder, "pgbouncer.ini"), configuration);
  writeFileSync(join(folder, "users"), `"${direct.username}" "${direct.password}"\n`);
  const user = unprivilegedUser();
  if (user)
    for (const path of [folder, ...FILES.map((name) => join(folder, name))])
      chownSync(path, user.uid, user.gid);
  const server = spawn(program as string, ["-q", join(folder, "pgbouncer.ini")], {
    ...user,
    cwd: folder,
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  await until(() => isListening(port));
  const url = new URL(database.url);
  url.port = String(port);
  url.hostname = "127.0.0.1";
  url.pathname = "/latchkey";
  return {
    url: url.href,
    directUrl: database.url,
    async drop() {
      server.kill("SIGKILL");
      await exited;
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const FILES = ["pgbouncer.ini", "users"];

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

export const pooledEngine = {
  name: "postgres",
  isHere,
  create: createPooled,
} satisfies Engine;
