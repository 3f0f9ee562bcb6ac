/** A condition of a list. The contract parses it from a query, storage turns it into SQL. */
export type Condition = { field: string; operator: Operator; value: string | number };

export type Operator = "eq" | "like" | "gt" | "ge" | "lt" | "le";

/** The order of a list. */
export type Sort = { field: string; descending: boolean };

/** The requested page of a list: by offset, or after the row that a cursor names. */
export type Page = { limit: number; offset: number; after?: string | undefined };

/** The position of a page in its list. */
export type PagePosition = {
  /** The rows before the page. After a cursor, the rows passed on the way. */
  offset: number;
  total: number;
  /** The list may have more than `total` rows; they were not counted. */
  isAtLeast: boolean;
  /** The cursor of the next page, and the rows before it. */
  next: { after: string; offset: number } | undefined;
};

/** Rows are counted up to this number, so a page costs the same however long its list is. */
export const ROWS_COUNTED = 10_000;
/** The most rows examined one by one for a page when no index fits both filter and order. */
export const ROWS_SEARCHED = 20_000;
/** A pattern of this length costs about as much as reading the row; longer ones up to a hundred times as much. */
export const PATTERN_LENGTH = 64;
