import { type ParseArgsOptionDescriptor, parseArgs } from "node:util";
import { usageFault } from "../lib/operator-fault.ts";
import type { Command } from "./command.ts";
import { suggest } from "./options.ts";

/** What was typed after a command's name, checked against what it takes. `undefined`: its help was asked for. */
export function parse(command: Command, args: string[]): Record<string, unknown> | undefined {
  const known = { ...command.options, help: { says: "" } };
  const options = Object.fromEntries(
    Object.entries(known).map(([name, option]): [string, ParseArgsOptionDescriptor] => [
      name,
      { type: "value" in option ? "string" : "boolean", ...(name === "help" && { short: "h" }) },
    ]),
  );
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  if (tokens.some((token) => token.kind === "option" && token.name === "help")) return undefined;
  for (const token of tokens)
    if (token.kind === "option" && !Object.hasOwn(known, token.name)) {
      const names = Object.keys(command.options).map((name) => `--${name}`);
      throw faultOf(command, `there is no option ${token.rawName}${suggest(`--${token.name}`, names)}`);
    }
  const valued = tokens.flatMap((token) =>
    token.kind === "option" && token.value !== undefined ? [token.name] : [],
  );
  const twice = valued.find((name, at) => valued.indexOf(name) < at);
  if (twice) throw faultOf(command, `--${twice} stands there more than once: which one is meant?`);
  const { values, positionals } = parseStrictly(command, args, options);
  const [argument, ...more] = positionals;
  const unexpected = command.argument ? more[0] : argument;
  if (unexpected !== undefined) throw faultOf(command, `${JSON.stringify(unexpected)} is one word too many`);
  if (command.argument && !argument)
    throw faultOf(command, `${command.argument.value} is missing: ${command.argument.says}`);
  for (const [name, { required }] of Object.entries(command.options))
    if (required && !values[name]) throw faultOf(command, `--${name} is required`);
  return { ...withDefaults(command, values), ...(command.argument && { argument }) };
}

function parseStrictly(command: Command, args: string[], options: Record<string, ParseArgsOptionDescriptor>) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true });
  } catch (cause) {
    // The first line says which option lacks its value, or has one that it does not take.
    throw faultOf(command, ((cause as Error).message.split("\n")[0] as string).replace(/\.$/, ""), cause);
  }
}

const withDefaults = ({ options }: Command, values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      values[name] ?? (option.value === undefined ? false : option.default),
    ]),
  );

const faultOf = ({ name }: Command, what: string, cause?: unknown): Error =>
  usageFault(`${what}\n\`latchkey ${name} --help\` says how it is typed`, cause);
