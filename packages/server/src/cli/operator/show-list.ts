import type { Page } from "../../lib/condition.ts";
import { usageFault } from "../../lib/operator-fault.ts";
import { ListRefused } from "../../storage/lists/page.ts";
import { readWhole } from "../options.ts";
import { formatTable } from "../table.ts";
import { type FromStore, fromStore } from "./require-store.ts";
import type { CommandDeps } from "./with-storage.ts";

export type PageGiven = { limit: string; after: string | undefined };

const MOST = 1000;

export const readLimit = ({ limit }: PageGiven): number => readWhole(limit, "--limit", 1, MOST);

type ListColumns<T> = {
  /** The name of the list in JSON: "application_keys". */
  name: string;
  head: readonly string[];
  toCells(row: T): readonly (string | number)[];
};

type ListRows<T> = {
  rows: readonly T[];
  next: string | undefined;
  /** Printed on standard error when the list has no rows. */
  empty: string;
};

type PageAnswer<T> = { data: readonly (T & { links: unknown })[]; links: { next: string | null } };

/** The resources of a page without their links, and the cursor of the next page. */
export const rowsOf = <T>({ data, links }: PageAnswer<T>) => ({
  rows: data.map(({ links: _, ...resource }) => resource),
  next: (links.next && new URL(links.next).searchParams.get("page[after]")) ?? undefined,
});

/**
 * One page: a table on standard output and, on standard error, the option that shows the next page; or one JSON object.
 */
export function printList<T>(
  { rows, next, empty }: ListRows<T>,
  { json, after }: Pick<PageGiven, "after"> & { json: boolean },
  { name, head, toCells }: ListColumns<T>,
): void {
  if (json) {
    console.log(JSON.stringify({ [name]: rows, next: next ?? null }));
    return;
  }
  if (rows.length > 0) console.log(formatTable(head, rows.map(toCells)));
  else console.error(after === undefined ? empty : "there are no more");
  if (next !== undefined) console.error(`there are more: add --after ${next}`);
}

/** Reads one page of a store's list and prints it. */
export async function listFromStore<T>(
  given: FromStore & PageGiven,
  read: (deps: CommandDeps, storeId: string, page: Page) => Promise<ListRows<T>>,
  columns: ListColumns<T>,
): Promise<void> {
  const { after } = given;
  const page = { limit: readLimit(given), offset: 0, after };
  const rows = await fromStore(given.store, (deps, storeId) => refuseInWords(read(deps, storeId, page)));
  printList(rows, given, columns);
}

/** Explains on the command line why a list cannot be read as requested. */
async function refuseInWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ListRefused)) throw error;
    if (error.reason === "cursor_unfit") throw unfitCursor(error);
    throw usageFault(
      "too many records would have to be read one by one: give fewer of the options together, or --since",
      error,
    );
  }
}

export const unfitCursor = (cause?: unknown): Error =>
  usageFault("--after is not the cursor of this list: give it with the same options as before", cause);

/** Prints a resource, one line per member. Members without a value are left out. */
export function printMembers(members: Record<string, string | number | null | undefined>): void {
  const rows = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  const lines = (value: unknown) => String(value).replaceAll("\n", `\n${" ".repeat(width)}`);
  console.log(rows.map(([name, value]) => `${name.padEnd(width)}${lines(value)}`).join("\n"));
}

/** One resource: a line for each of its members, or one JSON object under its name. */
export function printOne(
  json: boolean,
  resource: Record<string, object>,
  members: Parameters<typeof printMembers>[0],
): void {
  if (json) console.log(JSON.stringify(resource));
  else printMembers(members);
}

/** The answer of a command: one JSON object for programs, or a text for people. */
export const printAnswer = (json: boolean, answer: object, text: string): void =>
  console.log(json ? JSON.stringify(answer) : text);
