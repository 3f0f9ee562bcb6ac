import { sql } from "kysely";
import type { Condition, Sort } from "../contract/filter.ts";
import { limits } from "../contract/limits.ts";
import type { Output } from "../contract/operation.ts";
import { type Page, presentPage, presentPageLinks, toListParameters } from "../contract/paging.ts";
import { Problem } from "../contract/problem.ts";
import { type ProblemCode, problemEntry, problems } from "../contract/problems.ts";
import { type SignOnReason, signOnReasonEntry, signOnReasons } from "../contract/sign-on-reasons.ts";
import type * as contract from "../contract/sign-ons.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { deleteOld } from "../storage/delete-old.ts";
import type { Columns } from "../storage/filter.ts";
import { readPage } from "../storage/page.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** The records of sign-ons, for the people who must find out why one failed. */

type Deps = { storage: Storage };
type Row = Tables["sign_ons"];

const NEWEST_FIRST: Sort = { field: "started_at", descending: true };

const COLUMNS: Columns = {
  reference: { column: "reference", transform: (value) => String(value).toUpperCase() },
  profile_id: { column: "profile_id" },
  outcome: { column: "outcome" },
  reason: { column: "reason" },
  customer_id: { column: "customer_id" },
  started_at: { column: "started_at" },
};

export type SignOnList = {
  rows: Row[];
  total: number;
  page: Page;
  conditions: readonly Condition[];
  sort: Sort | undefined;
};

export async function listSignOns(
  { storage }: Deps,
  storeId: string,
  page: Page,
  conditions: readonly Condition[] = [],
  sort?: Sort,
): Promise<SignOnList> {
  const of = { store_id: storeId };
  const narrowing = { conditions, sort: sort ?? NEWEST_FIRST, columns: COLUMNS };
  const { rows, total } = await readPage(storage.db, "sign_ons", of, page, narrowing);
  return { rows, total, page, conditions, sort };
}

export async function getSignOn({ storage }: Deps, storeId: string, id: string): Promise<Row> {
  const row = await storage.db
    .selectFrom("sign_ons")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw new Problem("sign_on_not_found");
  return row;
}

type Where = { publicUrl: string };
type Members = Output<typeof contract.getSignOn>["data"];

const selfUrl = ({ publicUrl }: Where, id: string) => `${publicUrl}/v2/sign-ons/${id}`;

/** A refusal that was a page has a problem's code; any other has a reason's. */
function inWords(reason: string | null): { means: string; remedy: string } | undefined {
  if (reason === null) return undefined;
  if (Object.hasOwn(signOnReasons, reason)) return signOnReasonEntry(reason as SignOnReason);
  return Object.hasOwn(problems, reason) ? problemEntry(reason as ProblemCode) : undefined;
}

const presentMembers = (row: Row): Members => ({
  id: row.id,
  type: "sign-on",
  reference: row.reference,
  realm_id: row.realm_id,
  profile_id: row.profile_id,
  profile_name: row.profile_name,
  outcome: row.outcome as Members["outcome"],
  reason: row.reason,
  error: row.error,
  means: inWords(row.reason)?.means ?? null,
  remedy: inWords(row.reason)?.remedy ?? null,
  customer_id: row.customer_id,
  checks: JSON.parse(row.checks),
  timings: JSON.parse(row.timings),
  meta: { timestamps: { started_at: toIso(row.started_at), updated_at: toIso(row.updated_at) } },
});

export const presentSignOn = (where: Where, row: Row): Output<typeof contract.getSignOn> => ({
  data: presentMembers(row),
  links: { self: selfUrl(where, row.id) },
});

export const presentSignOnList = (
  where: Where,
  { rows, total, page, conditions, sort }: SignOnList,
): Output<typeof contract.listSignOns> => ({
  data: rows.map((row) => ({ ...presentMembers(row), links: { self: selfUrl(where, row.id) } })),
  meta: presentPage(page, total),
  links: presentPageLinks(`${where.publicUrl}/v2/sign-ons`, page, total, toListParameters(conditions, sort)),
});

/**
 * A code that nobody redeemed in time has expired; what is older than the operator wants is forgotten, and so are the
 * oldest refusals that strangers may have caused, where a store has more of those than are kept.
 */
export async function tidyRecords(
  { storage, clock }: Deps & { clock: Clock },
  { codeSeconds, recordDays }: { codeSeconds: number; recordDays: number },
): Promise<void> {
  const now = clock.now();
  await storage.db
    .updateTable("sign_ons")
    .set({ outcome: "expired", reason: "code_expired", updated_at: now })
    .where("outcome", "=", "code_issued")
    .where("updated_at", "<", now - codeSeconds * 1000 - 10_000)
    .execute();
  await deleteOld(storage.db, "sign_ons", "id", "started_at", now - recordDays * 86_400_000);
  await forgetStrangers(storage);
}

/** A literal, not a parameter: only so does the planner know that the index over strangers' records will do. */
const byStranger = sql<boolean>`by_stranger = 1`;
const BATCH = 1000;

async function forgetStrangers({ db }: Storage): Promise<void> {
  const crowded = await db
    .selectFrom("sign_ons")
    .select("store_id")
    .where(byStranger)
    .groupBy("store_id")
    .having(({ fn }) => fn.countAll(), ">", limits.strangerRecordsKept)
    .execute();
  for (const { store_id } of crowded) {
    for (let deleted = BATCH; deleted === BATCH; ) {
      const oldest = db
        .selectFrom("sign_ons")
        .select("id")
        .where("store_id", "=", store_id)
        .where(byStranger)
        .orderBy("started_at", "desc")
        .orderBy("id", "desc")
        .limit(BATCH)
        .offset(limits.strangerRecordsKept);
      const { numDeletedRows } = await db.deleteFrom("sign_ons").where("id", "in", oldest).executeTakeFirst();
      deleted = Number(numDeletedRows);
    }
  }
}
