import type { Plan, Read } from "./explain.ts";
import { NARROW } from "./rules.ts";

/** Describes the faults of a plan. A plan without faults costs the same with a million rows. */
export function faultsOf(statement: string, { reads, sorts }: Plan): string[] {
  const tables = tablesIn(statement);
  const grown = reads
    .map((read) => ({ read, table: tables.get(read.name) ?? read.name }))
    .filter(({ table }) => table in NARROW);
  const faults = grown.flatMap(({ read, table }) => faultOf(read, table));
  const wide = grown.filter(({ read, table }) => !isNarrow(read, table));
  if (sorts && wide.length > 0)
    faults.push(`sorts the rows that it reads of ${wide.map(({ table }) => table).join(", ")}`);
  return [...new Set(faults)];
}

function faultOf(read: Read, table: string): string[] {
  if (read.by.length === 0 && (!read.isLimited || read.isFiltered)) return [`reads all of ${table}`];
  if (isNarrow(read, table)) return [];
  const columns = read.by.map(({ column }) => column).join(", ") || "nothing";
  if (!read.isLimited) return [`reads ${table} by ${columns} without a limit`];
  return read.isFiltered ? [`discards rows that it reads of ${table} by ${columns}`] : [];
}

const isNarrow = ({ by }: Read, table: string): boolean =>
  by.some(({ column, isEqual }) => isEqual && NARROW[table as keyof typeof NARROW].includes(column));

/** The tables of a statement by alias, because SQLite's plan has the aliases only. */
function tablesIn(statement: string): Map<string, string> {
  return new Map(
    [...statement.matchAll(/"?(\w+)"? as "?(\w+)"?/g)].map(([, table = "", alias = ""]) => [alias, table]),
  );
}
