import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const fileOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const USAGE = new URL("usage.js", import.meta.url).href;

/** What a process has used so far, all its threads together. */
type Usage = { cpuUs: number; rssBytes: number };

/** A server under test. */
export type Server = {
  usage(): Promise<Usage>;
  /** Throws what it said last if it is no more. */
  refuseEnded(): void;
  stop(): Promise<void>;
};

/** A program of the benchmark in a process of its own, or a server in Node. */
export type Process = Server & {
  pid: number;
  send(message: object | string): void;
  /** The next message that has this member, and what it holds. */
  receive<T>(member: string): Promise<T>;
};

/** Its standard output goes nowhere, as far as the kernel is concerned: what it logs, it still writes. */
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

/** A server that is not written for Node: what it has used, the kernel says. Linux only. */
export function startProgram(file: string, args: string[]): Server {
  const child = spawn(file, args, { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH } });
  const { refuseEnded, stop } = watch(child, file);
  // It has no channel to us by which it would notice.
  process.once("exit", () => child.kill("SIGKILL"));
  return {
    usage: async () => usageOf(child.pid as number),
    refuseEnded,
    stop,
  };
}

/** Of a process with all its threads. Behind its name, which may have spaces: the 12th and 13th are hundredths of a second, the 22nd pages. */
export function usageOf(pid: number | string): Usage {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8");
  const facts = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [user, system, pages] = [facts[11], facts[12], facts[21]].map(Number) as [number, number, number];
  return { cpuUs: (user + system) * 10_000, rssBytes: pages * 4096 };
}

/** Keeps what it says last on standard error. Ten seconds after it was asked to stop, it is made to. */
function watch(child: ChildProcess, file: string) {
  let faults = "";
  child.stderr?.on("data", (chunk) => {
    faults = `${faults}${chunk}`.slice(-MOST_SAID);
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

/** A program that logs each request there says much. */
const MOST_SAID = 20_000;

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
