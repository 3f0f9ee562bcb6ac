import type { Api } from "./access.ts";
import type { Call } from "./exchange.ts";
import { nextPage } from "./next-page.ts";

const PAGE_SIZE = 100;

/** Reads every item of a list, page by page. */
export async function readAll<T>(
  api: Api,
  path: string,
  call: Pick<Call, "step" | "customerToken">,
): Promise<T[]> {
  const items: T[] = [];
  let where: ReturnType<typeof nextPage> = {};
  while (where) {
    const members = Object.entries(where).map(([name, value]) => `&page[${name}]=${value}`);
    const { data, links } = await api<{ data: T[]; links: { next: string | null } }>({
      method: "GET",
      path: `${path}?page[limit]=${PAGE_SIZE}${members.join("")}`,
      ...call,
    });
    items.push(...data);
    where = nextPage(links.next);
  }
  return items;
}
