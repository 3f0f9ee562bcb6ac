import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from "node:util";
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

/** What stands before the options, and the rest. */
export const takeArgument = ([first, ...rest]: string[]): [string | undefined, string[]] =>
  first === undefined || first.startsWith("-")
    ? [undefined, first === undefined ? [] : [first, ...rest]]
    : [first, rest];

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

export function readWhole(value: string, option: string, min: number): number {
  const checked = rateLimitShape.min(min).safeParse(/^\d{1,9}$/.test(value) ? Number(value) : Number.NaN);
  if (!checked.success) throw operatorFault(`${option} must be a whole number from ${min} to 1000000`);
  return checked.data;
}
