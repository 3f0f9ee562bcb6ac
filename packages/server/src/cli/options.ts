import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { ROLES, type Role } from "../contract/roles.ts";
import { name as nameShape, rateLimit as rateLimitShape } from "../contract/shapes.ts";
import { operatorFault } from "../lib/operator-fault.ts";

/** Reads a command's options. `--help` prints its usage and ends the command: the result is then undefined. */
export function readOptions<T extends ParseArgsOptionsConfig>(usage: string, args: string[], options: T) {
  const config = {
    args,
    options: { ...options, help: { type: "boolean", short: "h" } },
    strict: true,
  } as const;
  const { values } = parseArgs(config satisfies ParseArgsConfig);
  if ((values as { help?: boolean }).help) {
    console.log(usage);
    return undefined;
  }
  return values as ReturnType<typeof parseArgs<{ options: T; args: string[]; strict: true }>>["values"];
}

/** The one argument that is no option, wherever it stands, and the rest. For commands whose options take no values. */
export function takeArgument(args: string[]): [string | undefined, string[]] {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  return at < 0 ? [undefined, args] : [args[at], args.toSpliced(at, 1)];
}

/** What a name stands for, if it is one of these and not one that every object has. */
export const pick = <T>(choices: Record<string, T>, name: string | undefined): T | undefined =>
  name !== undefined && Object.hasOwn(choices, name) ? choices[name] : undefined;

export const isHelp = (arg: string | undefined): boolean => arg === "--help" || arg === "-h";

export function required(value: string | undefined, option: string): string {
  if (!value) throw operatorFault(`${option} is required`);
  return value;
}

export function readName(value: string | undefined): string {
  const checked = nameShape.safeParse(required(value, "--name"));
  if (!checked.success)
    throw operatorFault("--name must have 1 to 255 characters, no control characters, and not be blank");
  return checked.data;
}

export function readRole(value: string | undefined): Role {
  const role = ROLES.find((known) => known === required(value, "--role"));
  if (!role) throw operatorFault(`--role must be one of ${ROLES.join(", ")}`);
  return role;
}

export function readWhole(value: string, option: string, min: number): number {
  const checked = rateLimitShape.min(min).safeParse(/^\d{1,9}$/.test(value) ? Number(value) : Number.NaN);
  if (!checked.success) throw operatorFault(`${option} must be a whole number from ${min} to 1000000`);
  return checked.data;
}
