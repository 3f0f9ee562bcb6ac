import type { Listing, ListQuery, Page } from "@latchkey/sdk/admin";
import { useInfiniteQuery } from "@tanstack/react-query";

/** The loaded part of a list. `total`: the size of the whole list, as far as the service counts. */
export type Grown<T> = { items: T[]; total: number; totalIsAtLeast: boolean };

/** A longer list is not requested again by time, because each of its pages is a request. */
const MOST_PAGES_BY_TIME = 4;

/** A list that grows page by page, by the `next` query of each page. */
export function useListed<T>(
  key: readonly unknown[],
  ask: (query: ListQuery) => Listing<T> | Promise<Page<T>>,
  first: ListQuery,
  refetchInterval: number | false = false,
) {
  return useInfiniteQuery({
    refetchInterval: ({ state }) => (state.data?.pages.length ?? 0) <= MOST_PAGES_BY_TIME && refetchInterval,
    queryKey: key,
    queryFn: async ({ pageParam }) => ask(pageParam),
    initialPageParam: first,
    getNextPageParam: (page: Page<T>) => page.next ?? undefined,
    select: ({ pages }): Grown<T> => ({
      items: pages.flatMap(({ data }) => data),
      total: pages[0]?.total ?? 0,
      totalIsAtLeast: pages[0]?.totalIsAtLeast ?? false,
    }),
  });
}

/** "12", "10,000 or more". */
export const countOf = ({ total, totalIsAtLeast }: { total: number; totalIsAtLeast: boolean }): string =>
  `${total.toLocaleString("en")}${totalIsAtLeast ? " or more" : ""}`;
