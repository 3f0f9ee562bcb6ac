import { type ParseArgsOptionDescriptor, parseArgs } from "node:util";
import { isId } from "../lib/ids.ts";
import { usageFault } from "../lib/operator-fault.ts";
import type { Command } from "./command.ts";
import { quoted, suggest } from "./options.ts";

/** The arguments of a command, checked against its options. `undefined`: the user asked for help. */
export function parse(command: Command, args: string[]): Record<string, unknown> | undefined {
  const types = Object.entries(command.options).map(
    ([name, { value }]): [string, ParseArgsOptionDescriptor] => [
      name,
      { type: value === undefined ? "boolean" : "string" },
    ],
  );
  const options = { ...Object.fromEntries(types), help: { type: "boolean", short: "h" } } as const;
  // Not `strict`, because Node's messages do not say what to type instead.
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const typed = tokens.filter((token) => token.kind === "option");
  if (typed.some(isHelp)) return undefined;
  const values = new Map<string, string | true>();
  for (const token of typed) {
    const value = readOption(command, token, args[token.index] as string);
    if (value !== true && values.has(token.name))
      throw faultOf(command, `--${token.name} is given more than once`);
    values.set(token.name, value);
  }
  const words = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []));
  const [argument, ...more] = command.argument?.isReadOut ? [words.join(" ")] : words;
  const unexpected = command.argument ? more[0] : argument;
  if (unexpected !== undefined) throw faultOf(command, `${quoted(unexpected)} is one word too many`);
  if (command.argument && !argument?.trim())
    throw faultOf(command, `${command.argument.value} is missing: ${command.argument.says}`);
  for (const [name, { required }] of Object.entries(command.options))
    if (required && !values.get(name)) throw faultOf(command, `--${name} is required`);
  return {
    ...withDefaults(command, values),
    ...(command.argument && argument && { argument: tidy(command.argument.value, argument) }),
  };
}

type Typed = { name: string; value: string | undefined; inlineValue: boolean | undefined };

/** Also in the place of a value: `--store --help`. */
const isHelp = ({ name, value, inlineValue }: Typed): boolean =>
  name === "help" || (!inlineValue && (value === "--help" || value === "-h"));

function readOption(command: Command, { name, value, inlineValue }: Typed, word: string): string | true {
  const known = Object.hasOwn(command.options, name) ? command.options[name] : undefined;
  if (!known) {
    // Node reads `-limit` as four options of one letter.
    const given = (word.split("=") as [string])[0];
    const names = Object.keys(command.options).map((each) => `--${each}`);
    throw faultOf(command, `there is no option ${given}${suggest(given.replace(/^-*/, "--"), names)}`);
  }
  if (known.value === undefined) {
    if (value === undefined) return true;
    throw faultOf(command, `--${name} takes no value: leave out ${quoted(`=${value}`)}`);
  }
  if (value === undefined) throw faultOf(command, `--${name} needs a value ${known.value}: ${known.says}`);
  // A negative number is no option either; the reader of the number reports its range.
  if (!inlineValue && /^-[^\d]/.test(value))
    throw faultOf(
      command,
      `--${name} needs a value ${known.value}: ${quoted(value)} looks like an option. If it is the value, write --${name}=${value}`,
    );
  // An unset shell variable leaves an empty value: `--store "$STORE"`.
  if (IDS.includes(known.value) && value.trim() === "")
    throw faultOf(command, `--${name} is empty: ${known.says}`);
  return tidy(known.value, value);
}

/** Arguments with these names are ids. Spaces around a copied id, and capitals, are accepted. */
const IDS = ["<store>", "<key>", "<member>", "<realm>", "<profile>", "<customer>", "<reference>"];

function tidy(what: string, value: string): string {
  const id = value.trim().toLowerCase();
  return IDS.includes(what) && isId(id) ? id : value;
}

const withDefaults = ({ options }: Command, values: ReadonlyMap<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      values.get(name) ?? (option.value === undefined ? false : option.default),
    ]),
  );

const faultOf = ({ name }: Command, what: string): Error =>
  usageFault(`${what}\n\`latchkey ${name} --help\` shows its options`);
