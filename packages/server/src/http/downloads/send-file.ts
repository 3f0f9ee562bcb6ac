import type { z } from "zod";
import type { Caller } from "../../contract/caller.ts";
import { rowOf } from "../../contract/columns.ts";
import type { GateResult } from "../../contract/gate.ts";
import type { Operation } from "../../contract/operation.ts";
import { isBackOffice } from "../../contract/permissions.ts";
import { Problem } from "../../contract/problem.ts";
import type { Exchange, ServeDeps } from "../exchange.ts";
import { type HttpAnswer, headerOf, type Pieces, type Received } from "../message.ts";
import type { Route } from "../route.ts";
import { preferenceOf } from "./accept.ts";
import { csvOf } from "./csv.ts";
import { download } from "./download.ts";

/**
 * The row of a list that is answered as CSV; undefined: the answer is JSON. CSV is for the back office. Other callers
 * get JSON where they accept it too, because every list in reach of a public token was JSON before.
 */
export function chooseCsv(
  operation: Operation,
  received: Received,
  { headers, caller }: Pick<Exchange, "headers" | "caller">,
): z.ZodObject | undefined {
  const row = rowOf(operation);
  if (!row) return undefined;
  headers.Vary = "Accept";
  const { wantsCsv, takesJson } = preferenceOf(headerOf(received, "accept"));
  if (!wantsCsv) return undefined;
  if (caller && isBackOffice(caller)) return row;
  if (takesJson) return undefined;
  throw new Problem("not_acceptable", { source: { header: "Accept" } });
}

export type FileRequest = {
  ids: Record<string, string>;
  query: unknown;
  caller: Caller;
  roleNow: GateResult["roleNow"];
};

/** An answer that is saved as a file: a list as CSV, or an operation that has an `attachment`. */
export function sendFile(
  deps: ServeDeps,
  { operation, handle }: Route,
  request: FileRequest,
  row: z.ZodObject | undefined,
): Promise<HttpAnswer> {
  const { caller, roleNow, ids, query } = request;
  const file = { caller, roleNow, role: operation.role };
  if (!row) {
    const name = `${operation.success.attachment}-${ids.id}`;
    const json = { ...file, name, extension: "json", contentType: "application/json" } as const;
    return download(deps, json, async () => (await handle(request)) as Pieces);
  }
  const name = operation.path.split("/").at(-1) ?? "";
  const read = (asked: object, callerNow: Caller) => handle({ ...request, query: asked, caller: callerNow });
  const csv = { ...file, name, extension: "csv", contentType: "text/csv; charset=utf-8" } as const;
  return download(deps, csv, (callerNow) => csvOf({ operation, row, query, read }, callerNow));
}
