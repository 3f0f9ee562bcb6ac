/** What a list is narrowed by: the contract parses it out of a query, storage turns it into SQL. */
export type Condition = { field: string; operator: Operator; value: string | number };

export type Operator = "eq" | "like" | "gt" | "ge" | "lt" | "le";

/** What a list is ordered by. */
export type Sort = { field: string; descending: boolean };

/** Which page of a list is asked for: so many rows further on, or after the row that a cursor names. */
export type Page = { limit: number; offset: number; after?: string | undefined };

/** Where in its list a page lies. */
export type Place = {
  /** How many rows come before it. After a cursor, as many as were passed on the way there. */
  offset: number;
  total: number;
  /** There may be more than `total`: nobody has counted them. */
  isAtLeast: boolean;
  /** The page after this one: its cursor, and how many rows come before it. */
  next: { after: string; offset: number } | undefined;
};

/** Rows are counted so far and no further, so that a page costs the same however long its list is. */
export const ROWS_COUNTED = 10_000;
/** The most rows that are examined one by one for a page, where no index fits both the filter and the order. */
export const ROWS_SEARCHED = 20_000;
/** Patterns of up to so many characters cost about as much as reading the row. Longer ones cost up to a hundred times as much. */
export const PATTERN_LENGTH = 64;
