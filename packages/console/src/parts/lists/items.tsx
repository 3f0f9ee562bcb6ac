import type { ComponentProps, Key, ReactNode } from "react";
import { Growing } from "./growing.tsx";

/** The key of an item that has an id. */
export const idOf = (item: unknown): Key => (item as { id: string }).id;

type ItemsProps<T> = {
  items: readonly T[];
  children: (item: T) => ReactNode;
  keyOf?: (item: T) => Key;
};

export function Items<T>({ items, children, keyOf = idOf }: ItemsProps<T>) {
  return (
    <ul className="list">
      {items.map((item) => (
        <li key={keyOf(item)} data-row>
          {children(item)}
        </li>
      ))}
    </ul>
  );
}

type ListingProps<T> = Omit<ItemsProps<T>, "items"> &
  Pick<ComponentProps<typeof Growing<T>>, "query" | "empty" | "head">;

/** A list in its four states, with a button for the next page. */
export function Listing<T>({ query, empty, head, ...items }: ListingProps<T>) {
  return (
    <Growing query={query} empty={empty} head={head}>
      {(found) => <Items {...items} items={found} />}
    </Growing>
  );
}
