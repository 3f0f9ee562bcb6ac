// Runs a program on the Node that npm installed as a package (ADR 2): `node launch.js <program> [arguments]`. Without a
// program it prints the path of that Node. Plain JavaScript, so that a Node too old for TypeScript can read it.
import { spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";

const OLDEST = 24;
const path = process.env.PATH;
const running = { file: process.execPath, version: process.versions.node };
const system = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

const isNewEnough = ({ version }) => Number.parseInt(version, 10) >= OLDEST;

/** The Node of a platform package, wherever npm put it. */
function readPackage(name) {
  try {
    const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const { bin, version } = JSON.parse(readFileSync(file, "utf8"));
    return [{ file: join(dirname(file), bin.node), version }];
  } catch {
    return [];
  }
}

/** The Nodes that may run Latchkey, the installed one first: everybody gets the release that was tested. */
const candidates = [...[`node-${system}`, `node-bin-${system}`].flatMap(readPackage), running].filter(
  isNewEnough,
);

/** Whether the running Node is the one to use, so that no other process is needed. */
export const isRightNode = () => candidates[0]?.version === running.version;

function refuse() {
  console.error(
    `Latchkey needs Node ${OLDEST} or later, this is Node ${running.version}, and the package node-${system}, which ` +
      "brings a newer one, is not there or does not start: install it (npm ci without --omit=optional), or a newer Node.",
  );
  process.exit(1);
}

/** Runs a program on the right Node, hands signals on to it, and ends as it ends. */
export function launch(args, [node, ...others] = candidates) {
  if (!node) return refuse();
  // The service looks for this name among its ancestors (cli/serving/parent-lost.ts).
  process.title = "latchkey";
  // The program and its scripts find the same Node by the name `node`.
  process.env.PATH = [dirname(node.file), path].join(delimiter);
  const child = spawn(node.file, args, { stdio: "inherit" });
  const handOn = (signal) => {
    // A terminal sends Ctrl-C to the program as well, and many programs take a second one as "end at once".
    if (signal !== "SIGINT" || !isatty(0)) child.kill(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, handOn);
  const stopHandingOn = () => {
    for (const signal of signals) process.off(signal, handOn);
  };
  // A system with another C library (musl) gets the package and cannot start it.
  child.once("error", () => {
    if (child.pid !== undefined) return;
    stopHandingOn();
    launch(args, others);
  });
  child.once("exit", (code, signal) => {
    stopHandingOn();
    if (signal) process.kill(process.pid, signal);
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [, , ...args] = process.argv;
  if (args.length > 0) launch(args);
  else if (candidates[0]) console.log(candidates[0].file);
  else refuse();
}
