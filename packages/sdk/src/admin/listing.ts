import type { Api } from "../access.ts";
import { nextPage } from "../next-page.ts";

/** Lists come in pages: one of them, or all, one item after the other. */

export type PageQuery = {
  /** How many on a page, 1 to 100; 25 unless said otherwise. */
  limit?: number | undefined;
  /** How many to pass over, up to 10,000. */
  offset?: number | undefined;
  /** Goes before `offset`: after the page before, wherever that was. `next` of a page has it; it is good for the same list. */
  after?: string | undefined;
};

export type FilterQuery = PageQuery & {
  /** `eq(email,ada@shop.example):gt(created_at,2026-01-01)` */
  filter?: string | undefined;
};

export type ListQuery = FilterQuery & {
  /** `created_at`, or `-created_at` the other way round. */
  sort?: string | undefined;
};

export type Page<T, Query = ListQuery, Meta = object> = {
  data: T[];
  /** Over all pages. */
  total: number;
  /** There may be more than `total`: the service counts to 10,000. */
  totalIsAtLeast: boolean;
  /** Asks for the page after this one; undefined on the last. */
  next: Query | undefined;
  meta: Meta;
};

/** Await it for its page, or walk through `all()` for what is on it and on those that follow. */
export type Listing<T, Query = ListQuery, Meta = object> = Promise<Page<T, Query, Meta>> & {
  all(): AsyncGenerator<T, void, undefined>;
};

type WireList<T, Meta> = {
  data: T[];
  meta: Meta & {
    page: { limit: number; offset: number };
    results: { total: number; total_is_at_least?: true };
  };
  links: { next: string | null };
};

export function listing<T, Query extends ListQuery = PageQuery, Meta = object>(
  api: Api,
  path: string,
  query: Query = {} as Query,
): Listing<T, Query, Meta> {
  const first = readPage<T, Query, Meta>(api, path, query);
  async function* walk(): AsyncGenerator<T, void, undefined> {
    for (let page = await first; ; page = await readPage<T, Query, Meta>(api, path, page.next)) {
      yield* page.data;
      if (!page.next) return;
    }
  }
  return Object.assign(first, {
    all() {
      // The walk may begin later, and says then that the first page failed; until that, Node would end the process for it.
      first.catch(() => {});
      return walk();
    },
  });
}

async function readPage<T, Query extends ListQuery, Meta>(
  api: Api,
  path: string,
  query: Query,
): Promise<Page<T, Query, Meta>> {
  const { limit, offset, after, filter, sort } = query;
  const parameters = { "page[limit]": limit, "page[offset]": offset, "page[after]": after, filter, sort };
  const { data, meta, links } = await api<WireList<T, Meta>>({
    method: "GET",
    path: withQuery(path, parameters),
  });
  const { page: _, results, ...others } = meta;
  const { offset: _here, after: _before, ...same } = query;
  const further = nextPage(links.next);
  const next = further && ({ ...same, ...further } as Query);
  const { total, total_is_at_least: totalIsAtLeast = false } = results;
  return { data, total, totalIsAtLeast, next, meta: others as Meta };
}

/** Parameters without a value are left out. */
export function withQuery(path: string, parameters: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) search.set(name, String(value));
  return `${path}?${search}`;
}
