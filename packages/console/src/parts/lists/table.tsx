import { type ComponentProps, type Key, type ReactNode, useEffect, useId, useState } from "react";
import { useSearchParams } from "wouter";
import { directionOf, nextOrder, readRows, useAddress } from "./address.ts";
import { BESIDE_NOTHING, Growing } from "./growing.tsx";
import { idOf } from "./items.tsx";

/** A column of a table. The first column names the row, and is the heading of the card in a narrow window. */
export type Column<T> = {
  title: string;
  /** The order after the first press of the heading: `name`, `-created_at`. Absent: the service cannot sort by it. */
  sort?: string;
  /** `short`: on one line. `number`: on one line, at the right. `acts`: buttons. */
  kind?: "short" | "number" | "acts";
  cell: (item: T) => ReactNode;
};

type TableProps<T> = {
  /** The name of the table for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  items: readonly T[];
  keyOf?: (item: T) => Key;
  /** The order of the rows: `-created_at`. */
  order?: string | undefined;
  /** Makes each row open on a press, with this content below it. Its first cell is then inside a button. */
  detail?: ((item: T) => ReactNode) | undefined;
};

/** A table; in a narrow place each row is a card. */
function Table<T>({ label, columns, items, keyOf = idOf, order, detail }: TableProps<T>) {
  return (
    <div className="table-place">
      <table className="table">
        <caption className="only-read-out">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ title, sort, kind }) => (
              <Head key={title} title={title} sort={sort} kind={kind} order={order} />
            ))}
          </tr>
        </thead>
        {detail ? (
          items.map((item) => <OpeningRow key={keyOf(item)} columns={columns} item={item} detail={detail} />)
        ) : (
          <tbody>
            {items.map((item) => (
              <tr key={keyOf(item)} className="table-row" data-row>
                <Cells columns={columns} item={item} />
              </tr>
            ))}
          </tbody>
        )}
      </table>
    </div>
  );
}

type HeadProps = Pick<Column<unknown>, "title"> & {
  sort: string | undefined;
  kind: Column<unknown>["kind"];
  order: string | undefined;
};

function Head({ title, sort, kind, order }: HeadProps) {
  const [, change] = useAddress();
  if (sort === undefined)
    return (
      <th scope="col" className={classOf(kind)}>
        {kind === "acts" ? <span className="only-read-out">{title}</span> : title}
      </th>
    );
  return (
    <th scope="col" className={classOf(kind)} aria-sort={directionOf(order, sort)}>
      <button type="button" className="table-sort" onClick={() => change({ sort: nextOrder(order, sort) })}>
        {title}
      </button>
    </th>
  );
}

const classOf = (kind: Column<unknown>["kind"]): string | undefined => kind && `table-${kind}`;

type RowProps<T> = { columns: readonly Column<T>[]; item: T };

function Cells<T>({ columns: [first, ...others], item }: RowProps<T>) {
  return (
    <>
      <th scope="row">{first?.cell(item)}</th>
      {others.map(({ title, kind, cell }) => (
        <td key={title} className={classOf(kind)} data-label={kind === "acts" ? undefined : title}>
          <div>{cell(item)}</div>
        </td>
      ))}
    </>
  );
}

type OpeningProps<T> = RowProps<T> & { detail: (item: T) => ReactNode };

/** A row that opens on a press. The detail is drawn when it is opened, because it may request more. */
function OpeningRow<T>({ columns, item, detail }: OpeningProps<T>) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const [first, ...others] = columns;
  const opening: Column<T> = {
    title: first?.title ?? "",
    cell: () => (
      <button
        type="button"
        className="table-open"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {first?.cell(item)}
      </button>
    ),
  };
  return (
    <tbody>
      <tr className="table-row" data-row>
        <Cells columns={[opening, ...others]} item={item} />
      </tr>
      {isOpen && (
        <tr className="table-detail">
          <td id={id} colSpan={columns.length}>
            {detail(item)}
          </td>
        </tr>
      )}
    </tbody>
  );
}

type ListingProps<T> = Omit<TableProps<T>, "items"> &
  Pick<ComponentProps<typeof Growing<T>>, "query" | "empty" | "head">;

/** A list as a table, in its four states. The address has the number of rows after "Show more". */
export function TableListing<T>({ query, empty, head, ...table }: ListingProps<T>) {
  const [search, setSearch] = useSearchParams();
  const rows = readRows(search);
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const count = data?.items.length ?? 0;
  // The address of a longer list: reads the pages up to that length.
  useEffect(() => {
    if (count > 0 && count < rows && hasNextPage && !isFetching && !isError)
      void fetchNextPage(BESIDE_NOTHING);
  }, [count, rows, hasNextPage, isFetching, isError, fetchNextPage]);
  const onGrown = (grown: number) =>
    setSearch((before) => ({ ...Object.fromEntries(before), rows: String(grown) }), { replace: true });
  return (
    <Growing query={query} empty={empty} head={head} onGrown={onGrown}>
      {(items) => <Table {...table} items={items} />}
    </Growing>
  );
}
