import type { z } from "zod";
import { toIso } from "../lib/clock.ts";
import type { Condition, Page, PagePosition, Sort } from "../lib/condition.ts";
import { limits } from "./limits.ts";
import type { pageLinks, pageQuery } from "./shapes.ts";

export const toPage = (query: z.output<typeof pageQuery>): Page => ({
  limit: query["page[limit]"],
  offset: query["page[offset]"],
  after: query["page[after]"],
});

export function presentPage({ limit }: Page, { offset, total, isAtLeast }: PagePosition) {
  return {
    page: {
      limit,
      offset,
      current: Math.floor(offset / limit) + 1,
      total: Math.ceil(total / limit),
    },
    results: { total, ...(isAtLeast && { total_is_at_least: true as const }) },
  };
}

/** How a page was requested, and where it is in its list. */
type PageRead = {
  page: Page;
  place: PagePosition;
  conditions?: readonly Condition[];
  sort?: Sort | undefined;
};

/** One page of a list, and the links to the pages around it. */
export const presentList = <T>(
  listUrl: string,
  data: T[],
  { page, place, conditions = [], sort }: PageRead,
) => ({
  data,
  meta: presentPage(page, place),
  links: presentPageLinks(listUrl, page, place, toListParameters(conditions, sort)),
});

/** The same for items that have an address of their own. */
export const pageOf = <T extends { id: string }>(listUrl: string, items: readonly T[], read: PageRead) => {
  const data = items.map((item) => ({ ...item, links: { self: `${listUrl}/${item.id}` } }));
  return presentList(listUrl, data, read);
};

/** A list's filter and order as query parameters, so that its links stay within the same list. */
export function toListParameters(conditions: readonly Condition[], sort?: Sort): Record<string, string> {
  const filter = conditions.map(({ operator, field, value }) => {
    return `${operator}(${field},${typeof value === "number" ? toIso(value) : value})`;
  });
  return {
    ...(filter.length > 0 && { filter: filter.join(":") }),
    ...(sort && { sort: `${sort.descending ? "-" : ""}${sort.field}` }),
  };
}

/** `others`: the list's query parameters besides its page. */
export function presentPageLinks(
  listUrl: string,
  { limit, after }: Page,
  { offset, total, next }: PagePosition,
  others: Record<string, string> = {},
): z.input<typeof pageLinks> {
  const within = Object.entries(others).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  const to = (where: string) => `${listUrl}?page%5Blimit%5D=${limit}${where}${within.join("")}`;
  const at = (place: number) => to(`&page%5Boffset%5D=${place}`);
  // Instances of a release without cursors use the offset beside it. Only `next` goes beyond the largest offset.
  const behind = ({ after, offset }: NonNullable<PagePosition["next"]>) => {
    const beside = offset <= limits.pageOffset ? `&page%5Boffset%5D=${offset}` : "";
    return to(`${beside}&page%5Bafter%5D=${encodeURIComponent(after)}`);
  };
  const reachable = Math.min(Math.max(0, total - 1), limits.pageOffset);
  const before = Math.max(0, offset - limit);
  return {
    current: after === undefined ? at(offset) : behind({ after, offset }),
    first: at(0),
    last: at(Math.floor(reachable / limit) * limit),
    next: next === undefined ? null : behind(next),
    prev: offset > 0 && before <= limits.pageOffset ? at(before) : null,
  };
}
