import type { z } from "zod";
import type { Caller } from "../../contract/caller.ts";
import { cellsOf, columnsOf } from "../../contract/columns.ts";
import { limits } from "../../contract/limits.ts";
import type { Operation } from "../../contract/operation.ts";
import { csvLine } from "../../lib/csv.ts";

/** The part of a list's answer that leads to the next page. */
type ListPage = { data: unknown[]; links?: { next?: string | null } };
type ListQuery = Record<string, unknown>;

type List = {
  operation: Operation;
  row: z.ZodObject;
  query: unknown;
  /** The operation itself. It may answer JSON that was written before. */
  read(query: ListQuery, caller: Caller): unknown;
};

/** The members of a query that a request for CSV leaves out: the file has all pages. */
export const withoutPage = (search: string): string =>
  search
    .split("&")
    .filter((pair) => !/^page(\[|%5b)/i.test(pair))
    .join("&");

/**
 * Reads the first page, so that a request that is refused has no answer yet. The pages are those of the list's own
 * function, by `links.next`, so that filter, order and what a role may see stay one rule.
 */
export async function csvOf(list: List, callerNow: () => Caller): Promise<AsyncGenerator<string, void>> {
  const first = await readPage(list, {}, callerNow());
  return writePages(list, first, callerNow);
}

/** A piece a page. A page of a filtered list may have no rows, and its piece is empty. */
async function* writePages(
  list: List,
  first: ListPage,
  callerNow: () => Caller,
): AsyncGenerator<string, void> {
  const columns = columnsOf(list.row);
  let lines = csvLine(columns.map(({ name }) => name));
  for (let page = first; ; page = await readPage(list, positionOf(list.operation, page), callerNow())) {
    for (const row of page.data) lines += csvLine(cellsOf(columns, row));
    yield lines;
    lines = "";
    if (!page.links?.next) return;
  }
}

async function readPage({ query, read }: List, position: ListQuery, caller: Caller): Promise<ListPage> {
  const answer = await read({ ...(query as ListQuery), "page[limit]": limits.pageSize, ...position }, caller);
  return (typeof answer === "string" ? JSON.parse(answer) : answer) as ListPage;
}

/** The position of the next page: the log of events has numbers, every other list a cursor. */
function positionOf({ id, query }: Operation, { links }: ListPage): ListQuery {
  const { searchParams } = new URL(links?.next ?? "");
  for (const name of ["page[after]", "after"]) {
    const value = searchParams.get(name);
    const shape = query?.shape[name] as z.ZodType | undefined;
    if (value !== null && shape) return { [name]: shape.parse(value) };
  }
  throw new Error(`the next page of ${id} has no position`);
}
