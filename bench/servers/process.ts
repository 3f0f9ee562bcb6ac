import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const USAGE = new URL("usage.js", import.meta.url).href;

/** All threads of a process together. */
type Usage = { cpuUs: number; rssBytes: number };

export type Server = {
  usage(): Promise<Usage>;
  /** Throws, with the last lines of standard error, if the process has ended. */
  refuseEnded(): void;
  stop(): Promise<void>;
};

/** A program of the benchmark, or a server in Node, in a process of its own. */
export type Process = Server & {
  pid: number;
  send(message: object | string): void;
  /** Waits for the next message with this member and gives the member's value. */
  receive<T>(member: string): Promise<T>;
};

/** Standard output goes to /dev/null, so a server that logs still makes its write calls. */
export function startProcess(file: string, args: string[], env: Record<string, string>): Process {
  const child = spawn(process.execPath, ["--import", USAGE, file, ...args], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...env },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const { ending, refuseEnded, stop } = watch(child, file);
  const started: Process = {
    pid: child.pid as number,
    send: (message) => void child.send(message),
    receive: (member) => receive(child, member, ending),
    usage() {
      const answer = started.receive<Usage>("usage");
      child.send("usage");
      return answer;
    },
    refuseEnded,
    stop,
  };
  return started;
}

/** Starts a server that is not a Node program. Its usage comes from /proc, so on Linux only. */
export function startProgram(file: string, args: string[]): Server {
  const child = spawn(file, args, { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH } });
  const { refuseEnded, stop } = watch(child, file);
  // Without an IPC channel the program would go on running after the benchmark.
  process.once("exit", () => child.kill("SIGKILL"));
  return { usage: async () => usageOf(child.pid as number), refuseEnded, stop };
}

/**
 * From /proc/<pid>/stat. After the name, which may hold spaces, fields 12 and 13 are hundredths of a second, field 22
 * is pages.
 */
export function usageOf(pid: number | string): Usage {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8");
  const facts = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [user, system, pages] = [facts[11], facts[12], facts[21]].map(Number) as [number, number, number];
  return { cpuUs: (user + system) * 10_000, rssBytes: pages * 4096 };
}

/** Some programs log every request to standard error; only the end of the log is kept. */
const MOST_FAULTS = 20_000;

function watch(child: ChildProcess, file: string) {
  let faults = "";
  child.stderr?.on("data", (chunk) => {
    faults = `${faults}${chunk}`.slice(-MOST_FAULTS);
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ending = () => new Error(`${file} has ended:\n${faults}`);
  return {
    ending,
    refuseEnded() {
      if (child.exitCode !== null) throw ending();
    },
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(late);
    },
  };
}

function receive<T>(child: ChildProcess, member: string, ending: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    const onMessage = (message: Record<string, unknown>) => {
      if (message.fault === undefined && message[member] === undefined) return;
      leave();
      if (message.fault !== undefined) reject(new Error(String(message.fault)));
      else resolve(message[member] as T);
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

/** Starts a server of bench/. Its `ready` message has the server's URL and whatever else a workload needs. */
export async function startServer<T>(
  path: string,
  env: Record<string, string> = {},
): Promise<Process & { ready: T }> {
  const started = startProcess(fileURLToPath(new URL(`../${path}`, import.meta.url)), [], env);
  return { ...started, ready: await started.receive<T>("ready") };
}
