import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./postgres-server.ts";
import { findProgram, whySkipped } from "./programs.ts";
import { until } from "./until.ts";

/** Debian's Valkey or Redis, started by the tests on loopback. It writes nothing to disk. */
const executable = findProgram("valkey");
export const hasValkey = executable !== undefined;
/** The reason for skipped tests, in their reports. */
export const NO_VALKEY = whySkipped("valkey");

export type ValkeyServer = {
  url: string;
  port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Pauses the server (SIGSTOP) until `resume`. */
  pause(): void;
  resume(): void;
  /** Sends one command, and returns the raw answer. */
  say(command: string): Promise<string>;
  pid(): number;
  remove(): Promise<void>;
};

/** Uses the same port again after `stop` and `start`. `flags` are the server's own. */
export async function startValkey(...flags: string[]): Promise<ValkeyServer> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-valkey-"));
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder];
  const volatile = ["--save", "", "--appendonly", "no", "--daemonize", "no"];
  let server: ChildProcess | undefined;

  function say(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(`${command}\r\n`));
      socket.once("data", (answer) => {
        socket.destroy();
        resolve(answer.toString());
      });
      socket.once("error", reject);
    });
  }
  async function start(): Promise<void> {
    server = spawn(executable as string, [...options, ...volatile, ...flags], { stdio: "ignore" });
    const { pid } = server;
    // Checked by its process id: another server may listen there.
    await until(async () => (await say("INFO server").catch(() => "")).includes(`\nprocess_id:${pid}\r`));
  }
  const hasEnded = () => server?.exitCode !== null || server.signalCode !== null;
  async function stop(): Promise<void> {
    if (hasEnded()) throw new Error("the server has ended already, and not by this test");
    const ended = new Promise((resolve) => server?.once("exit", resolve));
    server?.kill("SIGKILL");
    await ended;
  }
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    start,
    stop,
    pause: () => void server?.kill("SIGSTOP"),
    resume: () => void server?.kill("SIGCONT"),
    say,
    pid: () => server?.pid as number,
    async remove() {
      if (!hasEnded()) await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
