import type { z } from "zod";
import { toIso } from "../lib/clock.ts";
import type { Condition, Sort } from "../lib/condition.ts";
import { limits } from "./limits.ts";
import type { pageLinks, pageQuery } from "./shapes.ts";

export type Page = { limit: number; offset: number };

export const toPage = (query: z.output<typeof pageQuery>): Page => ({
  limit: query["page[limit]"],
  offset: query["page[offset]"],
});

export function presentPage(page: Page, total: number) {
  return {
    page: {
      limit: page.limit,
      offset: page.offset,
      current: Math.floor(page.offset / page.limit) + 1,
      total: Math.ceil(total / page.limit),
    },
    results: { total },
  };
}

/** What a list was narrowed and ordered by, as it is asked for: so that its links stay within the same list. */
export function toListParameters(
  conditions: readonly Condition[],
  sort: Sort | undefined,
): Record<string, string> {
  const filter = conditions.map(({ operator, field, value }) => {
    return `${operator}(${field},${typeof value === "number" ? toIso(value) : value})`;
  });
  return {
    ...(filter.length > 0 && { filter: filter.join(":") }),
    ...(sort && { sort: `${sort.descending ? "-" : ""}${sort.field}` }),
  };
}

/** `others`: query parameters that belong to the list beside its page. */
export function presentPageLinks(
  listUrl: string,
  page: Page,
  total: number,
  others: Record<string, string> = {},
): z.input<typeof pageLinks> {
  const at = (offset: number) => {
    const parameters = { "page[limit]": page.limit, "page[offset]": offset, ...others };
    const query = Object.entries(parameters).map(([name, value]) =>
      [name, value].map(encodeURIComponent).join("="),
    );
    return `${listUrl}?${query.join("&")}`;
  };
  // No link leads further than may be asked for: a longer list must be narrowed.
  const reachable = Math.min(Math.max(0, total - 1), limits.pageOffset);
  const lastOffset = Math.floor(reachable / page.limit) * page.limit;
  const nextOffset = page.offset + page.limit;
  return {
    current: at(page.offset),
    first: at(0),
    last: at(lastOffset),
    next: nextOffset < total && nextOffset <= limits.pageOffset ? at(nextOffset) : null,
    prev: page.offset > 0 ? at(Math.max(0, page.offset - page.limit)) : null,
  };
}
