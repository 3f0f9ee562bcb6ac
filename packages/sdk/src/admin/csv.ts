import { type AdminApi, readText } from "./event-stream.ts";
import { type ListQuery, withQuery } from "./listing.ts";

export type FileOptions = {
  /** Ends the download. */
  signal?: AbortSignal | undefined;
  /**
   * Called before the first piece with the name that the service gives the file: `customers-2026-11-19.csv`.
   * A browser does not show the name to a page of another origin.
   */
  onName?: ((name: string) => void) | undefined;
};

/** A whole list has no page. */
export type CsvQuery<Query = ListQuery> = Omit<Query, "limit" | "offset" | "after"> & FileOptions;

type CsvParameters = CsvQuery & { after?: string | undefined; types?: string | undefined };

/**
 * The whole list as CSV, piece by piece: a header line, then the rows. A piece can end within a line. Throws if
 * the list breaks off: then the pieces before are not the whole.
 */
export const readCsv = (
  api: AdminApi,
  path: string,
  { signal, onName, ...parameters }: CsvParameters,
): AsyncGenerator<string, void, undefined> =>
  readFile(api, withQuery(path, parameters), "text/csv", { signal, onName });

/** A file of the service, piece by piece. */
export async function* readFile(
  { open }: AdminApi,
  path: string,
  accept: string,
  { signal, onName }: FileOptions,
): AsyncGenerator<string, void, undefined> {
  const { stream, headers } = await open(path, { signal, accept });
  const name = /filename="([^"]+)"/.exec(headers.get("Content-Disposition") ?? "")?.[1];
  if (name !== undefined) onName?.(name);
  yield* readText(stream);
}
