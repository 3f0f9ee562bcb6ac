import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { type Key, type ReactNode, useEffect, useRef } from "react";
import { Problem } from "../text/problem.tsx";
import { Asked } from "./asked.tsx";
import type { Grown } from "./listed.ts";

const idOf = (item: unknown): Key => (item as { id: string }).id;

type ItemsProps<T> = {
  items: readonly T[];
  children: (item: T) => ReactNode;
  keyOf?: (item: T) => Key;
};

export function Items<T>({ items, children, keyOf = idOf }: ItemsProps<T>) {
  return (
    <ul className="list">
      {items.map((item) => (
        <li key={keyOf(item)}>{children(item)}</li>
      ))}
    </ul>
  );
}

type ListingProps<T> = Omit<ItemsProps<T>, "items"> & {
  query: UseInfiniteQueryResult<Grown<T>>;
  /** What stands there when there is nothing and no more to come: what would be, and how it comes about. */
  empty: ReactNode;
  /** Above the items, once there are some. */
  head?: (found: Grown<T>) => ReactNode;
};

/** A list that is being read anew is read to the end first: the page would take its place, and leave what was shown as it was. */
const BESIDE_NOTHING = { cancelRefetch: false };

/** A list with its four faces, and a button for what comes after the page. */
export function Listing<T>({ query, empty, head, ...items }: ListingProps<T>) {
  const whole = useRef<HTMLDivElement>(null);
  /** How many there were when more were asked for. */
  const before = useRef<number>(undefined);
  const { isFetching, isFetchingNextPage, isFetchNextPageError, hasNextPage, isError, fetchNextPage } = query;
  // The last page takes the button away, and the focus with it: what came is next.
  useEffect(() => {
    if (isFetching || before.current === undefined) return;
    const first = whole.current?.querySelectorAll<HTMLElement>(".list > li")[before.current];
    // An event had the list read anew, which takes the place of a next page that is under way.
    if (!first && hasNextPage && !isError) return void fetchNextPage(BESIDE_NOTHING);
    before.current = undefined;
    if (hasNextPage || !first) return;
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
  }, [isFetching, hasNextPage, isError, fetchNextPage]);
  return (
    <Asked
      query={query}
      isTold={isFetchNextPageError}
      empty={(found) => found.items.length === 0 && !hasNextPage && empty}
    >
      {(found) => (
        <div className="stack" ref={whole}>
          {head?.(found)}
          <Items {...items} items={found.items} />
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
