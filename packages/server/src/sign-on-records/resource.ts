import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../contract/caller.ts";
import type { Input, Output } from "../contract/operation.ts";
import { pageOf, toPage } from "../contract/paging.ts";
import { Problem } from "../contract/problem.ts";
import { type ProblemCode, problemEntry, problems } from "../contract/problems.ts";
import {
  remedyOf,
  type SignOnCheck,
  type SignOnReason,
  signOnReasonEntry,
  signOnReasons,
} from "../contract/sign-on-reasons.ts";
import type * as contract from "../contract/sign-ons.ts";
import type { EmailDigests } from "../customers/email-digest.ts";
import { toIso } from "../lib/clock.ts";
import type { Condition, Page, Sort } from "../lib/condition.ts";
import { atMost } from "../storage/at-most.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { readReference } from "./reference.ts";

/** Digests are needed only to look for an address. */
type Deps = { storage: Storage; emailDigests?: EmailDigests };
type SignOnRow = Tables["sign_ons"];

/**
 * The condition as the columns have it: a reference in its one spelling, an e-mail as its digest. Tests and sign-ons of
 * members have a mark; `checkOf` finds the records without one.
 */
async function asWritten({ emailDigests }: Deps, storeId: string, condition: Condition): Promise<Condition> {
  const { field, value } = condition;
  if (field === "reference") return { ...condition, value: readReference(String(value)) ?? value };
  if (field === "test" && value === "true") return { ...condition, value: 1 };
  if (field === "purpose" && value === "members") return { field: "of_members", operator: "eq", value: 1 };
  if (field !== "email") return condition;
  if (!emailDigests) throw new Error("a search for an address needs digests");
  // An address has no space: a space is a plus that the client did not encode.
  const email = String(value).replaceAll(" ", "+");
  return { ...condition, value: (await emailDigests.of(storeId, email)) ?? "" };
}

/** Only administrators find members' records by an address: a match would reveal whose record it is. */
const withoutMembers = (storeId: string) => sql<SqlBool>`realm_id not in (
  select id from authentication_realms where store_id = ${storeId} and purpose = 'members')`;

/** The previous release has not marked members' sign-ons, so the realm decides as well. */
const isOfShopper = (storeId: string) => sql<SqlBool>`of_members is null and ${withoutMembers(storeId)}`;

const checkOf =
  (storeId: string) =>
  ({ field, value }: Condition): RawBuilder<SqlBool> | undefined => {
    if (field === "purpose") return isOfShopper(storeId);
    if (field === "test" && value === "false") return sql`test is null`;
    if (field !== "outcome") return undefined;
    if (value === "not_finished") return sql`outcome in ('code_issued', 'expired')`;
    return value === "sign_on" ? sql`outcome <> 'logout_refused'` : undefined;
  };

export async function readSignOns(
  deps: Deps,
  { storeId, role }: Pick<Caller, "storeId" | "role">,
  page: Page,
  conditions: readonly Condition[] = [],
  sort?: Sort,
) {
  const written = await Promise.all(conditions.map((condition) => asWritten(deps, storeId, condition)));
  const isByAddress = role !== "administrator" && conditions.some(({ field }) => field === "email");
  const narrowed = {
    conditions: written,
    sort,
    checkOf: checkOf(storeId),
    ...(isByAddress && { only: withoutMembers(storeId) }),
  };
  return readPage(deps.storage, "sign_ons", { store_id: storeId }, page, narrowed);
}

export async function listSignOns(
  deps: Deps & { publicUrl: string },
  caller: Pick<Caller, "storeId" | "role">,
  query: Input<typeof contract.listSignOns>["query"],
): Promise<Output<typeof contract.listSignOns>> {
  const { filter: conditions = [], sort } = query;
  const page = toPage(query);
  const { rows, place } = await readSignOns(deps, caller, page, conditions, sort);
  return pageOf(listUrl(deps), rows.map(signOnResource), { page, place, conditions, sort });
}

export async function showSignOn(
  deps: { storage: Storage; publicUrl: string },
  storeId: string,
  id: string,
): Promise<Output<typeof contract.getSignOn>> {
  const row = await deps.storage.db
    .selectFrom("sign_ons")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw new Problem("sign_on_not_found");
  return { data: signOnResource(row), links: { self: `${listUrl(deps)}/${id}` } };
}

const listUrl = ({ publicUrl }: { publicUrl: string }): string => `${publicUrl}/v2/sign-ons`;

export type SignOnName = { field: "id" | "reference"; value: string };

/** The records with this id or reference in these stores, newest first. */
export const findSignOns = (
  { storage }: Pick<Deps, "storage">,
  storeIds: readonly string[],
  { field, value }: SignOnName,
): Promise<SignOnRow[]> =>
  storage.db
    .selectFrom("sign_ons")
    .selectAll()
    .where("store_id", "in", storeIds)
    .where(field, "=", value)
    .orderBy("started_at", "desc")
    .limit(atMost(100))
    .execute();

type SignOnMembers = Output<typeof contract.getSignOn>["data"];

/** A refusal that was a page has a problem's code; every other one has a sign-on reason. */
function explain(
  reason: string | null,
  checks: readonly SignOnCheck[],
): { means: string; remedy: string } | undefined {
  if (reason === null) return undefined;
  if (Object.hasOwn(signOnReasons, reason)) {
    const { means } = signOnReasonEntry(reason as SignOnReason);
    return { means, remedy: remedyOf(reason as SignOnReason, checks) };
  }
  return Object.hasOwn(problems, reason) ? problemEntry(reason as ProblemCode) : undefined;
}

export function signOnResource(row: SignOnRow): SignOnMembers {
  const checks: SignOnCheck[] = JSON.parse(row.checks);
  const words = explain(row.reason, checks);
  return {
    id: row.id,
    type: "sign-on",
    reference: row.reference,
    realm_id: row.realm_id,
    profile_id: row.profile_id,
    profile_name: row.profile_name,
    outcome: row.outcome as SignOnMembers["outcome"],
    reason: row.reason,
    error: row.error,
    means: words?.means ?? null,
    remedy: words?.remedy ?? null,
    customer_id: row.customer_id,
    test: row.test === 1,
    redirect_uri: row.redirect_uri,
    browser: row.browser,
    operating_system: row.operating_system,
    network: row.network,
    request_id: row.request_id,
    idp_answer: row.idp_answer === null ? null : JSON.parse(row.idp_answer),
    checks,
    timings: JSON.parse(row.timings),
    meta: { timestamps: { started_at: toIso(row.started_at), updated_at: toIso(row.updated_at) } },
  };
}

/**
 * The event log cannot delete from its middle, and a failed sign-on belongs to no customer, so its event has no
 * personal data. The provider's error texts may contain some, so only the record has them.
 */
export function presentForLog(row: SignOnRow): object {
  const { browser: _, operating_system: _too, network: _also, ...rest } = signOnResource(row);
  const { idp_answer: answer } = rest;
  return {
    ...rest,
    redirect_uri: UNCHECKED_URI.has(row.reason) ? null : rest.redirect_uri,
    idp_answer: answer && { ...answer, error: null, error_description: null },
  };
}

/** Refused before the redirect URI was checked: the URI may be any text, with personal data in it. */
const UNCHECKED_URI: ReadonlySet<string | null> = new Set([
  "sign_on_client_unknown",
  "redirect_uri_unregistered",
]);
