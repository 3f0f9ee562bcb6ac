import type { IdpAnswer } from "../../contract/sign-on-reasons.ts";
import { OUTCOMES } from "../../contract/sign-ons.ts";
import { toIso } from "../../lib/clock.ts";
import type { Condition } from "../../lib/condition.ts";
import { isId } from "../../lib/ids.ts";
import { usageFault } from "../../lib/operator-fault.ts";
import { readReference } from "../../sign-on-records/reference.ts";
import { readSignOns, signOnResource } from "../../sign-on-records/resource.ts";
import { ifGiven, quoted, readChoice } from "../options.ts";
import { formatTable } from "../table.ts";
import { findSignOn } from "./find-sign-on.ts";
import type { FromStore } from "./require-store.ts";
import { listFromStore, type PageGiven, printMembers } from "./show-list.ts";

type SignOnFilter = Record<"outcome" | "reason" | "profile" | "customer" | "since", string | undefined>;

export async function list(given: FromStore & PageGiven & SignOnFilter): Promise<void> {
  const conditions = readConditions(given);
  await listFromStore(
    given,
    async (deps, storeId, page) => {
      const { rows, place } = await readSignOns(deps, { storeId, role: "administrator" }, page, conditions);
      return {
        rows: rows.map(signOnResource),
        next: place.next?.after,
        empty:
          conditions.length > 0
            ? "no sign-on is recorded that fits; leave out an option"
            : "no sign-on is recorded yet; a record is written within a second of a sign-on's end",
      };
    },
    {
      name: "sign_ons",
      head: ["reference", "started", "outcome", "reason", "provider"],
      toCells: ({ reference, meta, outcome, reason, profile_name }) => [
        reference,
        meta.timestamps.started_at,
        outcome,
        reason ?? "",
        profile_name ?? "",
      ],
    },
  );
}

function readConditions({ outcome, reason, profile, customer, since }: SignOnFilter): Condition[] {
  const equal = {
    outcome: ifGiven(outcome, (text) => readChoice(text, "--outcome", OUTCOMES)),
    reason,
    profile_id: profile,
    customer_id: customer,
  };
  const conditions = Object.entries(equal).flatMap(([field, value]): Condition[] =>
    value === undefined ? [] : [{ field, operator: "eq", value }],
  );
  const from = ifGiven(since, readInstant);
  return from === undefined
    ? conditions
    : [...conditions, { field: "started_at", operator: "ge", value: from }];
}

function readInstant(text: string): number {
  const instant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  // Date.parse reads 30 February as 2 March.
  const day = text.slice(0, 10);
  if (Number.isNaN(instant) || toIso(Date.parse(day)).slice(0, 10) !== day)
    throw usageFault(`--since must be a day or a time such as 2026-11-16T09:00:00Z, not ${quoted(text)}`);
  return instant;
}

const CALLS: Record<IdpAnswer["call"], string> = {
  discovery: "at its discovery document",
  authorize: "at the sign-in itself",
  token: "at its token endpoint",
  userinfo: "at its UserInfo endpoint",
};

/** A redirect has no status, and its error is an answer. */
function toWords({ call, status, fault, error, error_description }: IdpAnswer): string {
  const came = status !== null ? `HTTP ${status}` : error === null ? "no answer" : undefined;
  const said = [came, fault?.replaceAll("_", " "), error, error_description && `"${error_description}"`];
  return `${CALLS[call]}: ${said.filter(Boolean).join(", ")}`;
}

export async function show({ argument, store, json }: FromStore & { argument: string }): Promise<void> {
  const reference = isId(argument) ? undefined : readReference(argument);
  if (reference === undefined && !isId(argument))
    throw usageFault(
      `${quoted(argument)} is no reference: that is eight letters and digits, such as 7K2P-M0XN. Nor is it a record's id`,
    );
  const found = await findSignOn(
    reference === undefined ? { field: "id", value: argument } : { field: "reference", value: reference },
    store,
  );
  const record = signOnResource(found.row);
  const { id, name } = found.store;
  if (json) return console.log(JSON.stringify({ sign_on: record, store: { id, name } }));
  printMembers({
    reference: record.reference,
    id: record.id,
    store: `${id}  ${name}`,
    outcome: record.outcome,
    reason: record.reason,
    means: record.means,
    "what to do": record.remedy,
    "told to shop": record.error,
    "provider said": record.idp_answer && toWords(record.idp_answer),
    provider: record.profile_name,
    profile: record.profile_id,
    realm: record.realm_id,
    customer: record.customer_id,
    "redirect URI": record.redirect_uri,
    browser: record.browser,
    system: record.operating_system,
    network: record.network,
    started: record.meta.timestamps.started_at,
    timings: Object.entries(record.timings)
      .map(([step, ms]) => `${step} ${ms} ms`)
      .join(", "),
  });
  if (record.checks.length === 0) return;
  const checks = record.checks.map(({ check, passed, expected, found }) => [
    check,
    passed ? "passed" : "FAILED",
    expected ?? "",
    found ?? "",
  ]);
  console.log(`\n${formatTable(["check", "result", "expected", "found"], checks)}`);
}
