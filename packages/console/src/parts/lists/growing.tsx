import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { Problem } from "../text/problem.tsx";
import { Asked } from "./asked.tsx";
import type { Grown } from "./listed.ts";

type Props<T> = {
  query: UseInfiniteQueryResult<Grown<T>>;
  /** Shown if the list has no items and no further page. */
  empty: ReactNode;
  /** Shown above the items, if there are any. */
  head?: ((found: Grown<T>) => ReactNode) | undefined;
  /** Called after "Show more" with the new number of items. */
  onGrown?: (count: number) => void;
  /** Draws the items. The element of each item has the attribute `data-row`. */
  children: (items: readonly T[]) => ReactNode;
};

/** Lets a running refetch finish: the next page would cancel the refetch and leave old items. */
export const BESIDE_NOTHING = { cancelRefetch: false };

/** A list in its four states, with a button for the next page. */
export function Growing<T>({ query, empty, head, onGrown, children }: Props<T>) {
  const whole = useRef<HTMLDivElement>(null);
  /** The number of items when the next page was requested. */
  const before = useRef<number>(undefined);
  const { isFetching, isFetchingNextPage, isFetchNextPageError, hasNextPage, isError, fetchNextPage } = query;
  const count = query.data?.items.length ?? 0;
  // The last page removes the button, so the focus moves to the first new item.
  useEffect(() => {
    if (isFetching || before.current === undefined) return;
    const first = whole.current?.querySelectorAll<HTMLElement>("[data-row]")[before.current];
    // An event caused a refetch, which cancelled the request for the next page.
    if (!first && hasNextPage && !isError) return void fetchNextPage(BESIDE_NOTHING);
    before.current = undefined;
    if (first) onGrown?.(count);
    if (hasNextPage || !first) return;
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
  }, [isFetching, hasNextPage, isError, fetchNextPage, onGrown, count]);
  return (
    <Asked
      query={query}
      isTold={isFetchNextPageError}
      empty={(found) => found.items.length === 0 && !hasNextPage && empty}
    >
      {(found) => (
        <div className="stack" ref={whole}>
          {head?.(found)}
          {children(found.items)}
          {isFetchNextPageError && <Problem error={query.error} />}
          {hasNextPage && (
            <p>
              <button
                type="button"
                className="button button-plain"
                disabled={isFetchingNextPage}
                onClick={() => {
                  before.current = found.items.length;
                  void fetchNextPage(BESIDE_NOTHING);
                }}
              >
                Show more
              </button>
            </p>
          )}
        </div>
      )}
    </Asked>
  );
}
