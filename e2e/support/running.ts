import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LATCHKEY, latchkey, WATCHED } from "../../packages/server/test/support/command.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";

/** A service that runs as a process of its own, with a folder that is deleted with it. */
export type Running = {
  url: string;
  env: Record<string, string>;
  child: ChildProcess;
  /** Complete lines: the last read may break off within a line. */
  logLines(): string[];
  /** The exit code, after the process has ended and its output was read. */
  exited: Promise<number | null>;
};

export type Place = { folder: string; env: Record<string, string>; url: string; leave(): void };

export async function newPlace(databaseUrl?: string): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-e2e-"));
  const port = await freePort();
  const env = {
    PORT: String(port),
    LATCHKEY_DATABASE_URL: databaseUrl ?? `sqlite:${join(folder, "latchkey.db")}`,
    LATCHKEY_MASTER_KEY: randomBytes(32).toString("base64url"),
  };
  return {
    folder,
    env,
    url: `http://localhost:${port}`,
    leave: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function serve(
  { env, url, folder }: Place,
  args = ["serve"],
  stdout: "pipe" | number = "pipe",
  { program = LATCHKEY, operationsUrl = url } = {},
): Promise<Running> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...(program === LATCHKEY && WATCHED), ...env },
    stdio: ["ignore", stdout, "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk) => {
      output += chunk;
    });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`latchkey did not start:\n${output}`);
    return fetch(`${operationsUrl}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  });
  const logLines = () =>
    output
      .split("\n")
      .slice(0, -1)
      .filter((line) => line !== "");
  return { url, env, child, exited, logLines };
}

export type Made = {
  store: { id: string };
  application_key: { id: string; client_id: string; client_secret: string };
};

export async function createStore(
  { env, program }: { env: Record<string, string>; program?: string },
  ...more: string[]
): Promise<Made> {
  const { code, stdout, stderr } = await latchkey(
    ["store", "create", "--name", "Shop", "--json", ...more],
    env,
    undefined,
    program,
  );
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

export async function getToken(
  url: string,
  { application_key }: Made,
  grant: "client_credentials" | "implicit" = "client_credentials",
): Promise<string> {
  const { client_id, client_secret } = application_key;
  const body = new URLSearchParams({
    grant_type: grant,
    client_id,
    ...(grant === "client_credentials" && { client_secret }),
  });
  const answer = await fetch(`${url}/oauth/access_token`, { method: "POST", body });
  return ((await answer.json()) as { access_token: string }).access_token;
}
