import type * as contract from "../contract/customer-export.ts";
import type { Output } from "../contract/operation.ts";
import type { EmailDigests } from "../customers/email-digest.ts";
import {
  readIdentities as findIdentities,
  IDENTITIES_AT_ONCE,
} from "../customers/identities/list-identities.ts";
import { customerTokenResource } from "../customers/tokens/resource.ts";
import { presentEvent } from "../events/event.ts";
import { readEventsOf } from "../events/of-person.ts";
import { toIso } from "../lib/clock.ts";
import type { Condition, Page, PagePosition } from "../lib/condition.ts";
import { readSignOns as readRecords, signOnResource } from "../sign-on-records/resource.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";

/** The lists of an export. Each is read in pages of a hundred, so that a person with many rows costs no more memory. */

export type Exported = {
  storeId: string;
  personId: string;
  /** The customer's address, if it was proven. */
  provenEmail: string | undefined;
  /** The number of the last event to export. */
  to: number;
};

type Deps = { storage: Storage; emailDigests: EmailDigests };
type Parts = Output<typeof contract.exportCustomer>["data"];
type Pages<Name extends "identities" | "sessions" | "earlier" | "sign_ons" | "events"> = AsyncGenerator<
  Parts[Name],
  void
>;

const PAGE = 100;

export async function* readIdentities(
  { storage: { db } }: Deps,
  { storeId, personId }: Exported,
): Pages<"identities"> {
  let after: string | undefined;
  do {
    const found = await findIdentities(db, storeId, personId, after);
    yield found;
    after = found.length === IDENTITIES_AT_ONCE ? found.at(-1)?.id : undefined;
  } while (after !== undefined);
}

/** Every token that has its row, also one that expired a moment ago. */
export async function* readSessions({ storage }: Deps, { storeId, personId }: Exported): Pages<"sessions"> {
  const of = { store_id: storeId, customer_id: personId };
  for await (const rows of pagesOf((page) => readPage(storage, "customer_tokens", of, page)))
    yield rows.map((row) => {
      const { customer_id: _, ...token } = customerTokenResource(row);
      const { profile_id, subject, idp_session, browser, operating_system, network } = row;
      return { ...token, profile_id, subject, idp_session, browser, operating_system, network };
    });
}

/** From the changes in the log. Each names the value before it. */
export async function* readEarlier({ storage }: Deps, person: Exported): Pages<"earlier"> {
  for await (const rows of readEventsOf(storage.db, person))
    yield rows
      .filter(({ type, subject }) => type === "customer.updated" && subject === person.personId)
      .flatMap((row) => {
        const { changes } = JSON.parse(row.data) as { changes?: Record<string, { before?: unknown }> };
        return (["name", "email"] as const).flatMap((member) => {
          const value = changes?.[member]?.before;
          return typeof value === "string" ? [{ member, value, until: toIso(row.time) }] : [];
        });
      });
}

/**
 * A sign-on that failed belongs to no customer. Under the person's proven address it is theirs; under another address
 * it may be another person's.
 */
export async function* readSignOns(
  deps: Deps,
  { storeId, personId, provenEmail }: Exported,
): Pages<"sign_ons"> {
  const pagesWith = (condition: Omit<Condition, "operator">) => {
    const conditions = [{ ...condition, operator: "eq" as const }];
    return pagesOf((page) => readRecords(deps, { storeId, role: "administrator" }, page, conditions));
  };
  for await (const rows of pagesWith({ field: "customer_id", value: personId }))
    yield rows.map(signOnResource);
  if (provenEmail === undefined) return;
  for await (const rows of pagesWith({ field: "email", value: provenEmail }))
    yield rows.filter((row) => row.customer_id === null).map(signOnResource);
}

export async function* readEvents({ storage }: Deps, person: Exported): Pages<"events"> {
  for await (const rows of readEventsOf(storage.db, person)) yield rows.map(presentEvent);
}

/** The pages of a list, by its cursor. */
async function* pagesOf<T>(
  read: (page: Page) => Promise<{ rows: T[]; place: PagePosition }>,
): AsyncGenerator<T[], void> {
  let after: string | undefined;
  do {
    const { rows, place } = await read({ limit: PAGE, offset: 0, after });
    yield rows;
    after = place.next?.after;
  } while (after !== undefined);
}
