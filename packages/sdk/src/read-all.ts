import type { Api } from "./access.ts";
import type { Call } from "./exchange.ts";

const PAGE_SIZE = 100;

/** Every item of a list, page by page. */
export async function readAll<T>(
  api: Api,
  path: string,
  call: Pick<Call, "step" | "customerToken">,
): Promise<T[]> {
  const items: T[] = [];
  for (;;) {
    const { data, meta } = await api<{ data: T[]; meta: { results: { total: number } } }>({
      method: "GET",
      path: `${path}?page[limit]=${PAGE_SIZE}&page[offset]=${items.length}`,
      ...call,
    });
    items.push(...data);
    if (!data.length || items.length >= meta.results.total) return items;
  }
}
