import cluster from "node:cluster";
import { Problem } from "../contract/problem.ts";
import { problemEntry } from "../contract/problems.ts";
import { isOperatorFault, isUsageFault, usageFault } from "../lib/operator-fault.ts";
import { isUnavailable, isWriteRefused } from "../storage/failures.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands/all.ts";
import { helpOf, helpOfFamily, overview } from "./help.ts";
import { quoted, suggest } from "./options.ts";
import { parse } from "./parse.ts";
import { unknownVariables } from "./unknown-variables.ts";

const FAILED = 1;
const TYPED_WRONGLY = 2;

export async function run(args: string[]): Promise<void> {
  try {
    await runCommand(args);
  } catch (error) {
    process.exitCode = isUsageFault(error) ? TYPED_WRONGLY : FAILED;
    console.error(`latchkey: ${inWords(error)}`);
  }
}

const isHelp = (word: string | undefined): boolean => word === "--help" || word === "-h" || word === "help";

async function runCommand([first, ...rest]: string[]): Promise<void> {
  if (first === "--version" || first === "-v") return answer(`latchkey ${await readVersion()}`);
  // `help key update` is `key update --help`.
  if (first === undefined || isHelp(first)) {
    const about = rest.filter((word) => !isHelp(word));
    return about.length > 0 ? runCommand([...about, "--help"]) : answer(overview(commands));
  }
  const members = commands.filter(({ name }) => name === first || name.startsWith(`${first} `));
  const [only] = members;
  if (!only) throw unknown(first, commands);
  if (only.name === first) return execute(only, rest);
  const [action, ...args] = rest;
  if (action === undefined || isHelp(action)) return answer(helpOfFamily(first, members));
  const command = members.find(({ name }) => name === `${first} ${action}`);
  if (!command) throw unknownAction(first, action, members);
  return execute(command, args);
}

async function execute(command: Command, args: string[]): Promise<void> {
  const given = parse(command, args);
  if (!given) return answer(await helpOf(command));
  // `serve` writes its log itself; a stream on the same pipe would make the pipe non-blocking.
  if (command.name !== "serve") process.stdout.on("error", onUnwritten);
  if (cluster.isPrimary)
    for (const words of unknownVariables(process.env)) console.error(`latchkey: ${words}`);
  const work = (await command.load()) as (given: Record<string, unknown>) => Promise<void>;
  await work(given);
}

function answer(text: string): void {
  process.stdout.on("error", onUnwritten);
  console.log(text);
}

/**
 * A reader may close the pipe early (`| head`). Otherwise the output is incomplete, and may have contained a secret, so
 * the command fails.
 */
function onUnwritten({ code, message }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  process.exitCode = FAILED;
  console.error(`latchkey: the answer cannot be written to standard output: ${message}`);
}

async function readVersion(): Promise<string> {
  const { default: build } = await import("../../package.json", { with: { type: "json" } });
  return build.version;
}

function unknown(word: string, known: readonly Command[]): Error {
  const words = [...new Set(known.map(({ name }) => name.split(" ")[0] as string))];
  return usageFault(
    `there is no command ${quoted(word)}${suggest(word, words)}\n\`latchkey --help\` lists the commands`,
  );
}

function unknownAction(family: string, action: string, members: readonly Command[]): Error {
  const actions = members.map(({ name }) => name.slice(family.length + 1));
  return usageFault(
    `${family} has no command ${quoted(action)}${suggest(action, actions)}\n\`latchkey ${family} --help\` shows them`,
  );
}

/** A fault that the operator can fix is printed as a sentence; an unexpected error with its stack. */
export function inWords(error: unknown): string {
  if (error instanceof Problem)
    return error.faults.map(({ code, detail }) => detail ?? problemEntry(code).means).join("\n");
  if (isOperatorFault(error)) return error.message;
  if (isOfFile(error)) return `a file or folder cannot be used: ${error.message}`;
  if (isWriteRefused(error))
    return `the database cannot be written to: its disk is full or read-only (${(error as Error).message})`;
  if (isUnavailable(error))
    return `the database does not answer, or is too busy (${(error as Error).message}): run the same command again`;
  return (error as Error).stack ?? String(error);
}

const OF_FILES = ["EACCES", "EEXIST", "EISDIR", "ELOOP", "ENOSPC", "ENOTDIR", "EPERM", "EROFS"];

/** File system errors have a clear message of their own; so has the error of a deleted current folder. */
const isOfFile = (error: unknown): error is Error =>
  error instanceof Error &&
  "code" in error &&
  (OF_FILES.includes(String(error.code)) || ("syscall" in error && error.syscall === "uv_cwd"));
