import { limits } from "../contract/limits.ts";
import { OPENID_CLIENTS, type OpenidClient } from "../contract/openid-client.ts";
import { ROLES, type Role } from "../contract/roles.ts";
import { name as nameShape } from "../contract/shapes.ts";
import { nearest } from "../lib/nearest.ts";
import { usageFault } from "../lib/operator-fault.ts";
import { withoutSlashes } from "../lib/slashes.ts";

/** The name that was probably meant, or the list of names. */
export function suggest(given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  if (meant !== undefined) return `; did you mean ${meant}?`;
  return known.length > 0 ? `; there is ${known.join(", ")}` : "";
}

const SHOWN = 60;

/** Quotes the argument, so that a typing error is visible. Never for a secret. */
export const quoted = (value: string): string =>
  JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);

export function readName(value: string): string {
  const checked = nameShape.safeParse(value);
  if (!checked.success)
    throw usageFault(
      `--name must have 1 to 255 characters, no control characters, and not be blank, not ${quoted(value)}`,
    );
  return checked.data;
}

export function readWhole(
  value: string,
  option: string,
  min: number,
  max: number = limits.rateLimit,
): number {
  const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max))
    throw usageFault(`${option} must be a whole number from ${min} to ${max}, not ${quoted(value)}`);
  return number;
}

/** A service's URL, without a slash at the end. */
export function readUrl(value: string): string {
  if (!/^https?:\/\/./.test(value) || !URL.canParse(value))
    throw usageFault(`--url must be an address such as http://localhost:4000, not ${quoted(value)}`);
  return withoutSlashes(value);
}

/** One word of a list. */
export function readChoice<T extends string>(value: string, option: string, choices: readonly T[]): T {
  const choice = choices.find((known) => known === value);
  if (choice === undefined)
    throw usageFault(`${option} cannot be ${quoted(value)}${suggest(value, choices)}`);
  return choice;
}

export const readRole = (value: string): Role => readChoice(value, "--role", ROLES);

export const readOpenidClient = (value: string): OpenidClient =>
  readChoice(value, "--openid-client", OPENID_CLIENTS);

export const ifGiven = <T>(value: string | undefined, read: (value: string) => T): T | undefined =>
  value === undefined ? undefined : read(value);
