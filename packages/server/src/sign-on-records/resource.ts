import { type SqlBool, sql } from "kysely";
import type { Caller } from "../contract/caller.ts";
import type { Output } from "../contract/operation.ts";
import { presentPage, presentPageLinks, toListParameters } from "../contract/paging.ts";
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
import type { Condition, Page, Place, Sort } from "../lib/condition.ts";
import { atMost } from "../storage/at-most.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { readReference } from "./reference.ts";

/** The records of sign-ons, for the people who must find out why one failed. */

/** Only who lets people look for an address needs digests. */
type Deps = { storage: Storage; emailDigests?: EmailDigests };
type Row = Tables["sign_ons"];

/** A reference is found in any spelling. An e-mail is looked up by its digest; text that is not an address matches no record. */
async function asWritten({ emailDigests }: Deps, storeId: string, condition: Condition): Promise<Condition> {
  const { field, value } = condition;
  if (field === "reference") return { ...condition, value: readReference(String(value)) ?? value };
  if (field !== "email") return condition;
  if (!emailDigests) throw new Error("an address cannot be looked for without digests");
  // No address has a space: one that arrives was a plus that the client did not encode.
  const email = String(value).replaceAll(" ", "+");
  return { ...condition, value: (await emailDigests.of(storeId, email)) ?? "" };
}

type SignOnList = {
  rows: Row[];
  place: Place;
  page: Page;
  conditions: readonly Condition[];
  sort: Sort | undefined;
};

/**
 * Members' addresses are for administrators: for other roles no record of the members' realm is found by an address, which would tell
 * whose it is.
 */
const withoutMembers = (storeId: string) => sql<SqlBool>`realm_id not in (
  select id from authentication_realms where store_id = ${storeId} and purpose = 'members')`;

export async function listSignOns(
  deps: Deps,
  { storeId, role }: Pick<Caller, "storeId" | "role">,
  page: Page,
  conditions: readonly Condition[] = [],
  sort?: Sort,
): Promise<SignOnList> {
  const of = { store_id: storeId };
  const written = await Promise.all(conditions.map((condition) => asWritten(deps, storeId, condition)));
  const isByAddress = role !== "administrator" && conditions.some(({ field }) => field === "email");
  const narrowed = { conditions: written, sort, ...(isByAddress && { only: withoutMembers(storeId) }) };
  const { rows, place } = await readPage(deps.storage, "sign_ons", of, page, narrowed);
  return { rows, place, page, conditions, sort };
}

export async function getSignOn(
  { storage }: Pick<Deps, "storage">,
  storeId: string,
  id: string,
): Promise<Row> {
  const row = await storage.db
    .selectFrom("sign_ons")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw new Problem("sign_on_not_found");
  return row;
}

export type SignOnName = { field: "id" | "reference"; value: string };

/** The records of this name in some stores, newest first. */
export const findSignOns = (
  { storage }: Pick<Deps, "storage">,
  storeIds: readonly string[],
  { field, value }: SignOnName,
): Promise<Row[]> =>
  storage.db
    .selectFrom("sign_ons")
    .selectAll()
    .where("store_id", "in", storeIds)
    .where(field, "=", value)
    .orderBy("started_at", "desc")
    .limit(atMost(100))
    .execute();

type Where = { publicUrl: string };
type Members = Output<typeof contract.getSignOn>["data"];

const selfUrl = ({ publicUrl }: Where, id: string) => `${publicUrl}/v2/sign-ons/${id}`;

/** A refusal that was a page has a problem's code; any other has a reason's. */
function inWords(
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

export function signOnResource(row: Row): Members {
  const checks: SignOnCheck[] = JSON.parse(row.checks);
  const words = inWords(row.reason, checks);
  return {
    id: row.id,
    type: "sign-on",
    reference: row.reference,
    realm_id: row.realm_id,
    profile_id: row.profile_id,
    profile_name: row.profile_name,
    outcome: row.outcome as Members["outcome"],
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
 * The log cannot forget from its middle, and a sign-on that failed is nobody's yet: so nothing of a person is in it. What the
 * provider said may name one, or be a stranger's words in the redirect: it stays in the record.
 */
export function presentForLog(row: Row): object {
  const { browser: _, operating_system: _too, network: _also, ...rest } = signOnResource(row);
  const { idp_answer: answer } = rest;
  return {
    ...rest,
    redirect_uri: MADE_UP.has(row.reason) ? null : rest.redirect_uri,
    idp_answer: answer && { ...answer, error: null, error_description: null },
  };
}

/** Refused before the redirect URI was found to be one of the realm's: it may be any text, with an address of somebody in it. */
const MADE_UP: ReadonlySet<string | null> = new Set(["sign_on_client_unknown", "redirect_uri_unregistered"]);

export const presentSignOn = (where: Where, row: Row): Output<typeof contract.getSignOn> => ({
  data: signOnResource(row),
  links: { self: selfUrl(where, row.id) },
});

export const presentSignOnList = (
  where: Where,
  { rows, place, page, conditions, sort }: SignOnList,
): Output<typeof contract.listSignOns> => ({
  data: rows.map((row) => ({ ...signOnResource(row), links: { self: selfUrl(where, row.id) } })),
  meta: presentPage(page, place),
  links: presentPageLinks(`${where.publicUrl}/v2/sign-ons`, page, place, toListParameters(conditions, sort)),
});
