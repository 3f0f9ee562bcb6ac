/** What a list is narrowed by: the contract parses it out of a query, storage turns it into SQL. */
export type Condition = { field: string; operator: Operator; value: string | number };

export type Operator = "eq" | "like" | "gt" | "ge" | "lt" | "le";

/** What a list is ordered by. */
export type Sort = { field: string; descending: boolean };
