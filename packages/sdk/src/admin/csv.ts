import { type AdminApi, readText } from "./event-stream.ts";
import { type ListQuery, withQuery } from "./listing.ts";

/** A whole list has no page. `signal` ends the download. */
export type CsvQuery<Query = ListQuery> = Omit<Query, "limit" | "offset" | "after"> & {
  signal?: AbortSignal | undefined;
};

type CsvParameters = CsvQuery & { after?: string | undefined; types?: string | undefined };

/**
 * The whole list as CSV, piece by piece: a header line, then the rows. A piece can end within a line. Throws if
 * the list breaks off: then the pieces before are not the whole.
 */
export async function* readCsv(
  { open }: AdminApi,
  path: string,
  { signal, ...parameters }: CsvParameters,
): AsyncGenerator<string, void, undefined> {
  yield* readText(await open(withQuery(path, parameters), { signal, accept: "text/csv" }));
}
