import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Usage } from "./usage.ts";

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const USAGE = new URL("usage.ts", import.meta.url).href;

/** A program of the benchmark in a process of its own, or a server under test. */
export type Process = {
  pid: number;
  send(message: object | string): void;
  /** The next message that has this member, and what it holds. */
  receive<T>(member: string): Promise<T>;
  usage(): Promise<Usage>;
  /** Throws what it said last if it is no more. */
  refuseEnded(): void;
  stop(): Promise<void>;
};

/** Its standard output goes nowhere, as far as the kernel is concerned: what it logs, it still writes. */
export function startProcess(file: string, args: string[], env: Record<string, string>): Process {
  const child = spawn(process.execPath, ["--import", USAGE, file, ...args], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...env },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let faults = "";
  child.stderr?.on("data", (chunk) => {
    faults += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ending = () => new Error(`${file} has ended:\n${faults}`);
  const started: Process = {
    pid: child.pid as number,
    send: (message) => void child.send(message),
    receive: (member) => receive(child, member, ending),
    refuseEnded() {
      if (child.exitCode !== null) throw ending();
    },
    usage() {
      const answer = started.receive<Usage>("usage");
      child.send("usage");
      return answer;
    },
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(late);
    },
  };
  return started;
}

function receive<T>(child: ChildProcess, member: string, ending: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    const onMessage = (message: Record<string, unknown>) => {
      if (message.fault) {
        leave();
        reject(new Error(String(message.fault)));
      }
      if (message[member] === undefined) return;
      leave();
      resolve(message[member] as T);
    };
    const onExit = () => {
      leave();
      reject(ending());
    };
    child.on("message", onMessage);
    child.on("exit", onExit);
    if (child.exitCode !== null) onExit();
  });
}

/** A server of ours in bench/: says where it listens, and what else one has to know of it, in its `ready` message. */
export async function startServer<T>(
  path: string,
  env: Record<string, string> = {},
): Promise<Process & { ready: T }> {
  const started = startProcess(fileOf(path), [], env);
  return { ...started, ready: await started.receive<T>("ready") };
}
