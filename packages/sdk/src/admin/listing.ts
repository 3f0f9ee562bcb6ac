import type { Api } from "../access.ts";
import { nextPage } from "../next-page.ts";

/** Reads lists: one page, or every item of all pages. */

export type PageQuery = {
  /** Items per page, 1 to 100. Default: 25. */
  limit?: number | undefined;
  /** Items to skip, up to 10,000. */
  offset?: number | undefined;
  /** A cursor from `next` of a page of the same list. It takes precedence over `offset`. */
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
  /** The service counts to 10,000; the list may have more items than `total`. */
  totalIsAtLeast: boolean;
  /** The query of the next page; undefined on the last page. */
  next: Query | undefined;
  meta: Meta;
};

/** Await it to get one page, or iterate over `all()` to get the items of this page and all later pages. */
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
      // The iteration throws the error of the first page. Without this handler Node ends the process if it
      // begins later.
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

/** Appends the parameters that have a value. */
export function withQuery(path: string, parameters: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) search.set(name, String(value));
  return `${path}?${search}`;
}
