import { type RawBuilder, sql } from "kysely";
import type { Condition, Sort } from "../lib/condition.ts";
import { type Columns, columnOf, narrow } from "./filter.ts";
import type { Database } from "./storage.ts";
import type { Tables } from "./tables.ts";

type Listed =
  | "application_keys"
  | "authentication_realms"
  | "oidc_profiles"
  | "customers"
  | "customer_tokens"
  | "sign_ons";

/** The columns that say whose rows are meant. The store is always among them. */
type Owner = { store_id: string; realm_id?: string; customer_id?: string };

type Order = { column: string; descending: boolean };

type Narrowing = {
  conditions?: readonly Condition[] | undefined;
  sort?: Sort | undefined;
  columns?: Columns;
  /** The order unless `sort` says otherwise. */
  order?: Order;
  /** What else must be true of a row. */
  only?: RawBuilder<boolean>;
};

const OLDEST_FIRST: Order = { column: "created_at", descending: false };

/** One page of a store's rows, oldest first unless asked otherwise, and how many there are in all. */
export async function readPage<T extends Listed>(
  db: Database,
  table: T,
  of: Owner,
  page: { limit: number; offset: number },
  { conditions = [], sort, columns = {}, order = OLDEST_FIRST, only }: Narrowing = {},
): Promise<{ rows: Tables[T][]; total: number }> {
  const owned = Object.entries(of).map(([column, value]) => sql<boolean>`${sql.ref(column)} = ${value}`);
  const matching = narrow(
    db.selectFrom(table as Listed).where((eb) => eb.and(only ? [...owned, only] : owned)),
    columns,
    conditions,
  );
  const by = sort ? { column: columnOf(columns, sort.field).column, descending: sort.descending } : order;
  const direction = by.descending ? "desc" : "asc";
  // Rows that are equal in what they are ordered by would otherwise move between pages.
  const rows = matching
    .selectAll()
    .orderBy(sql.ref(by.column), direction)
    .orderBy("id", direction)
    .limit(page.limit)
    .offset(page.offset);
  const count = matching.select(({ fn }) => fn.countAll<number>().as("total"));
  return {
    rows: (await rows.execute()) as Tables[T][],
    total: (await count.executeTakeFirstOrThrow()).total,
  };
}
