import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import type { Key, ReactNode } from "react";
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

/** A list with its four faces, and a button for what comes after the page. */
export function Listing<T>({ query, empty, head, ...items }: ListingProps<T>) {
  return (
    <Asked query={query} empty={(found) => found.items.length === 0 && !query.hasNextPage && empty}>
      {(found) => (
        <div className="stack">
          {head?.(found)}
          <Items {...items} items={found.items} />
          {query.hasNextPage && (
            <p>
              <button
                type="button"
                className="button button-plain"
                disabled={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
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
