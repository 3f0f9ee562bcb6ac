import { sql } from "kysely";
import type { Storage } from "../../packages/server/src/storage/storage.ts";

/** One reading of a table in a plan. */
export type Read = {
  /** As the plan names it: the table, or its alias. */
  name: string;
  /** The columns that the index is entered with; `=` alone leaves the rows of one value. None: all rows are read. */
  by: { column: string; isEqual: boolean }[];
  /** It ends when enough rows were found. */
  isLimited: boolean;
  /** Rows are read and thrown away: a limit does not say how many are read. */
  isFiltered: boolean;
};

export type Plan = { reads: Read[]; sorts: boolean; text: string };

const conditionsIn = (text: string): Read["by"] =>
  [...text.matchAll(/"?(\w+)"?\s*(=|<=|>=|<|>)/g)].map(([, column = "", operator]) => ({
    column,
    isEqual: operator === "=",
  }));

/** SQLite does not say what it filters, nor where its limits are: the statement's own words have to do. */
export async function explainOnSqlite({ db }: Storage, statement: string): Promise<Plan[]> {
  const { rows } = await sql<{ detail: string }>`${sql.raw(`explain query plan ${statement}`)}`.execute(db);
  const details = rows.map(({ detail }) => detail);
  const isLimited = / limit /i.test(statement);
  const plan: Plan = {
    reads: details.flatMap((detail) => {
      const [, way, name = "", index = ""] = /^(SCAN|SEARCH) (\w+)(.*)$/.exec(detail) ?? [];
      if (way === undefined || / CONSTANT ROW/.test(detail)) return [];
      // An automatic index is made for the one statement, from all rows.
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

/** What PostgreSQL would do to small tables for their smallness is ruled out. */
const RULED_OUT = ["seqscan", "bitmapscan", "hashjoin", "mergejoin"];

/** Two plans: one that may sort, and one that goes along an index if it can. Which costs less depends on the number of rows. */
export async function explainOnPostgres(storage: Storage, statement: string): Promise<Plan[]> {
  return [
    await planOnPostgres(storage, statement, RULED_OUT),
    await planOnPostgres(storage, statement, [...RULED_OUT, "sort"]),
  ];
}

function planOnPostgres({ db }: Storage, statement: string, ruledOut: readonly string[]): Promise<Plan> {
  return db.transaction().execute(async (trx) => {
    for (const way of ruledOut) await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(trx);
    // Planned without the values, as for any.
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

/** Limits as the service has them. Of one that it does not know, the planner believes that it takes a tenth of the table. */
function withBounds(statement: string): { text: string; count: number } {
  const bounded = statement.replaceAll(/limit \$\d+/g, "limit 10").replaceAll(/offset \$\d+/g, "offset 0");
  const numbers = new Map<string, number>();
  const text = bounded.replaceAll(/\$\d+/g, (name) => {
    if (!numbers.has(name)) numbers.set(name, numbers.size + 1);
    return `$${numbers.get(name)}`;
  });
  return { text, count: numbers.size };
}

/** Nodes that take all that is below them before they give anything, or take it again and again. */
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
  for (const [place, child] of (node.Plans ?? []).entries()) {
    const isApart = child["Parent Relationship"] === "SubPlan" || child["Parent Relationship"] === "InitPlan";
    const isInner = type === "Nested Loop" && place > 0;
    const goesOn = type === "Limit" || (isLimited && !ENDS_LIMIT.test(type));
    walk(child, plan, goesOn && !isApart && !isInner, `${indent}  `);
  }
}
