import { sql } from "kysely";
import type { Storage } from "../../packages/server/src/storage/storage.ts";

/** A read of a table in a plan. */
export type Read = {
  /** The name in the plan: the table, or its alias. */
  name: string;
  /**
   * The columns of the index condition. `isEqual` is true for `=`, which selects the rows of one value. An empty list
   * reads all rows.
   */
  by: { column: string; isEqual: boolean }[];
  /** The read ends after a number of rows. */
  isLimited: boolean;
  /** A filter discards rows after reading, so a limit does not bound the rows read. */
  isFiltered: boolean;
};

export type Plan = { reads: Read[]; sorts: boolean; text: string };

const conditionsIn = (text: string): Read["by"] =>
  [...text.matchAll(/"?(\w+)"?\s*(=|<=|>=|<|>)/g)].map(([, column = "", operator]) => ({
    column,
    isEqual: operator === "=",
  }));

/** SQLite's plan has neither filters nor limits, so the text of the statement decides whether a read is limited. */
export async function explainOnSqlite({ db }: Storage, statement: string): Promise<Plan[]> {
  const { rows } = await sql<{ detail: string }>`${sql.raw(`explain query plan ${statement}`)}`.execute(db);
  const details = rows.map(({ detail }) => detail);
  const isLimited = / limit /i.test(statement);
  const plan: Plan = {
    reads: details.flatMap((detail) => {
      const [, way, name = "", index = ""] = /^(SCAN|SEARCH) (\w+)(.*)$/.exec(detail) ?? [];
      if (way === undefined || / CONSTANT ROW/.test(detail)) return [];
      // SQLite builds an automatic index for one statement, from all rows.
      const by = way === "SEARCH" && !index.includes("AUTOMATIC") ? conditionsIn(index) : [];
      return [{ name, by, isLimited, isFiltered: false }];
    }),
    sorts: details.some((detail) => detail.startsWith("USE TEMP B-TREE")),
    text: details.join("\n"),
  };
  return [plan];
}

type Node = {
  "Node Type": string;
  "Parent Relationship"?: string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  "Recheck Cond"?: string;
  Filter?: string;
  Alias?: string;
  Plans?: Node[];
};

/** Plan nodes that PostgreSQL prefers for small tables, disabled because the tables of this check are small. */
const RULED_OUT = ["seqscan", "bitmapscan", "hashjoin", "mergejoin"];

/**
 * Two plans: the first may sort, the second uses an index for the order if possible. The number of rows decides which
 * costs less.
 */
export async function explainOnPostgres(storage: Storage, statement: string): Promise<Plan[]> {
  return [
    await planOnPostgres(storage, statement, RULED_OUT),
    await planOnPostgres(storage, statement, [...RULED_OUT, "sort"]),
  ];
}

function planOnPostgres({ db }: Storage, statement: string, ruledOut: readonly string[]): Promise<Plan> {
  return db.transaction().execute(async (trx) => {
    for (const way of ruledOut) await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(trx);
    // A generic plan, made without the values.
    await sql`set local plan_cache_mode = force_generic_plan`.execute(trx);
    const { text, count } = withBounds(statement);
    await sql.raw(`prepare asked as ${text}`).execute(trx);
    const values = count === 0 ? "" : `(${Array(count).fill("null").join(", ")})`;
    type Row = { "QUERY PLAN": [{ Plan: Node }] };
    const { rows } = await sql
      .raw<Row>(`explain (format json, costs off) execute asked${values}`)
      .execute(trx);
    await sql`deallocate asked`.execute(trx);
    const plan: Plan = { reads: [], sorts: false, text: "" };
    walk((rows[0] as Row)["QUERY PLAN"][0].Plan, plan, false, "");
    return plan;
  });
}

/** Replaces limits by numbers, because the planner expects an unknown limit to be a tenth of the table. */
function withBounds(statement: string): { text: string; count: number } {
  const bounded = statement.replaceAll(/limit \$\d+/g, "limit 10").replaceAll(/offset \$\d+/g, "offset 0");
  const numbers = new Map<string, number>();
  const text = bounded.replaceAll(/\$\d+/g, (name) => {
    if (!numbers.has(name)) numbers.set(name, numbers.size + 1);
    return `$${numbers.get(name)}`;
  });
  return { text, count: numbers.size };
}

/** Nodes that read all rows of their child before the first result, or read the child again and again. */
const ENDS_LIMIT = /^(Sort|Aggregate|Hash|Materialize|WindowAgg|SetOp|ModifyTable|Unique)$/;

function walk(node: Node, plan: Plan, isLimited: boolean, indent: string): void {
  const type = node["Node Type"];
  plan.text += `${indent}${[type, node.Alias ?? node["Relation Name"], node["Index Cond"], node.Filter && `filter ${node.Filter}`].filter(Boolean).join(" ")}\n`;
  if (type === "Sort") plan.sorts = true;
  if (node["Relation Name"] !== undefined && type !== "ModifyTable") {
    plan.reads.push({
      name: node["Relation Name"],
      by: conditionsIn(node["Index Cond"] ?? node["Recheck Cond"] ?? ""),
      isLimited,
      isFiltered: node.Filter !== undefined,
    });
  }
  for (const [at, child] of (node.Plans ?? []).entries()) {
    const isApart = child["Parent Relationship"] === "SubPlan" || child["Parent Relationship"] === "InitPlan";
    const isInner = type === "Nested Loop" && at > 0;
    const isLimitedBelow = type === "Limit" || (isLimited && !ENDS_LIMIT.test(type));
    walk(child, plan, isLimitedBelow && !isApart && !isInner, `${indent}  `);
  }
}
