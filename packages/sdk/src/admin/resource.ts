import { pathOf } from "../access.ts";
import type { SelfLink } from "../contract.ts";
import { type CsvQuery, readCsv } from "./csv.ts";
import type { AdminApi } from "./event-stream.ts";
import { type Listing, type ListQuery, listing, type PageQuery } from "./listing.ts";

/** An answer with one resource. */
export type Answer<T, Links = SelfLink> = { data: T; links: Links };

/** The types of a resource. */
type Shape = {
  item: object;
  fresh: object;
  change: object;
  query?: ListQuery;
  links?: SelfLink;
  listMeta?: object;
  /** Members beside `data` in the answer of a create or an update. */
  written?: object;
  /** `data` in the answer of a create, if it differs from `item`. */
  made?: object;
};

type Of<S extends Shape, Member extends keyof Shape, Otherwise> =
  S extends Record<Member, infer Given> ? Given : Otherwise;
type Links<S extends Shape> = Of<S, "links", SelfLink>;
type Query<S extends Shape> = Of<S, "query", PageQuery>;

type Resource<S extends Shape> = {
  list(query?: Query<S>): Listing<S["item"] & { links: Links<S> }, Query<S>, Of<S, "listMeta", object>>;
  /** The whole list as CSV, piece by piece. */
  csv(query?: CsvQuery<Query<S>>): AsyncGenerator<string, void, undefined>;
  create(item: S["fresh"]): Promise<Answer<Of<S, "made", S["item"]>, Links<S>> & Of<S, "written", unknown>>;
  get(id: string): Promise<Answer<S["item"], Links<S>>>;
  update(id: string, change: S["change"]): Promise<Answer<S["item"], Links<S>> & Of<S, "written", unknown>>;
  delete(id: string): Promise<void>;
};

export const resource = <S extends Shape>(api: AdminApi, path: string, type: string): Resource<S> => ({
  // The calls are the same for every shape; only the types differ.
  list: (query) => listing(api, path, query as ListQuery) as never,
  csv: (query = {} as never) => readCsv(api, path, query as CsvQuery),
  create: async (item) => api({ method: "POST", path, data: { type, ...item } }),
  get: async (id) => api({ method: "GET", path: path + pathOf(id) }),
  update: async (id, change) => api({ method: "PUT", path: path + pathOf(id), data: { type, ...change } }),
  delete: async (id) => {
    await api({ method: "DELETE", path: path + pathOf(id) });
  },
});
