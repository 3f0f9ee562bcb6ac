import type { z } from "zod";
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

export function presentPageLinks(listUrl: string, page: Page, total: number): z.input<typeof pageLinks> {
  const at = (offset: number) => `${listUrl}?page%5Blimit%5D=${page.limit}&page%5Boffset%5D=${offset}`;
  const lastOffset = total === 0 ? 0 : Math.floor((total - 1) / page.limit) * page.limit;
  const nextOffset = page.offset + page.limit;
  return {
    current: at(page.offset),
    first: at(0),
    last: at(lastOffset),
    next: nextOffset < total ? at(nextOffset) : null,
    prev: page.offset > 0 ? at(Math.max(0, page.offset - page.limit)) : null,
  };
}
