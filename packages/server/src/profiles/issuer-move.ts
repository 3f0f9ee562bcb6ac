import type { SelectQueryBuilder } from "kysely";
import { Problem } from "../contract/problem.ts";
import { show } from "../lib/show.ts";
import { atMost } from "../storage/at-most.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import type { FormerIssuer, Profile } from "./profile.ts";

/**
 * An identity is filed under the issuer that spoke of it, and a member is bound to it. When a provider is called something else from
 * now on, its people would all become new customers, and its members would be let in no more. Whoever changes it says which it shall be: left behind, or carried over because the provider
 * still calls each of them by the same subject. The identities stay where they are; the profile names the former issuer, and
 * whoever looks for an identity looks there, too. So a million are carried over by writing one row.
 */
export type MoveChoice = {
  /** The profile's own id: carried over. Null: left behind. */
  adopt_identities_of?: string | null | undefined;
  /** The profile's name, so that nobody carries over by accident. */
  confirm?: string | undefined;
};

/** Up to here people and their tokens are counted; there may be millions. */
export const COUNTED = 10_000;

/** What to write beside the new document; throws where there is somebody to choose for, and no choice. */
export async function columnsOfMove(
  trx: Trx,
  profile: Profile,
  issuerAfter: string | null,
  {
    adopt_identities_of: adoptIdentitiesOf,
    confirm,
    client_id: clientId = profile.client_id,
  }: MoveChoice & NewClient,
): Promise<{ former_issuers?: string }> {
  const before = issuerBefore(profile);
  if (before === undefined) return {};
  const former = profile.metadata
    ? withIssuer(profile.former_issuers, { issuer: before, clientId: profile.client_id })
    : profile.former_issuers;
  const identities = await countIdentities(trx, profile, former);
  if (identities === 0) return {};
  if (adoptIdentitiesOf === null) return { former_issuers: "[]" };
  if (adoptIdentitiesOf !== profile.id) {
    throw new Problem("identities_left_behind", {
      source: { pointer: "/data/adopt_identities_of" },
      meta: { identities, issuer: show(before), new_issuer: issuerAfter && show(issuerAfter) },
    });
  }
  if (confirm !== profile.name)
    throw new Problem("confirmation_wrong", { source: { pointer: "/data/confirm" } });
  const carried = former.filter((one) => one.issuer !== issuerAfter || one.clientId !== clientId);
  return { former_issuers: JSON.stringify(carried) };
}

/** What the provider was called last. A profile that leads to one which could not be read yet still has the people of before. */
export const issuerBefore = ({ metadata, former_issuers: formerIssuers }: Profile): string | undefined =>
  metadata?.issuer ?? formerIssuers.at(-1)?.issuer;

type NewClient = { client_id?: string | undefined };

/**
 * Under another client of the same issuer a profile goes on with its own people. Those that it has taken over, or that another one
 * takes over from it, are looked for by client (customers/identities/linked.ts), so the one that they came with is kept.
 */
export function columnsOfClient(
  profile: Profile,
  { client_id: clientId }: NewClient,
): { former_issuers?: string } {
  const issuer = profile.metadata?.issuer;
  if (issuer === undefined || clientId === undefined || clientId === profile.client_id) return {};
  const former = withIssuer(profile.former_issuers, { issuer, clientId: profile.client_id });
  return { former_issuers: JSON.stringify(former) };
}

export const withIssuer = (known: readonly FormerIssuer[], added: FormerIssuer): FormerIssuer[] => [
  ...known.filter(({ issuer, clientId }) => issuer !== added.issuer || clientId !== added.clientId),
  added,
];

/** One issuer of one profile at a time: for several at once PostgreSQL reads all that the profile, or all others, have. */
async function countIdentities(trx: Trx, profile: Profile, former: readonly FormerIssuer[]): Promise<number> {
  let total = 0;
  for (const issuer of new Set(former.map((one) => one.issuer)))
    for (const id of [profile.id, ...profile.former_profile_ids])
      total += await countUnder(trx, { store_id: profile.store_id, id }, issuer);
  return Math.min(total, COUNTED);
}

/** Customers' identities, or, of a profile of the members' realm, the members that it has bound. */
async function countUnder(
  trx: Trx,
  { store_id: storeId, id }: Pick<Profile, "store_id" | "id">,
  issuer: string,
): Promise<number> {
  const customers = trx
    .selectFrom("customer_identities")
    .select("id")
    .where("store_id", "=", storeId)
    .where("profile_id", "=", id)
    .where("issuer", "=", issuer)
    .limit(atMost(COUNTED));
  const members = trx
    .selectFrom("members")
    .select("id")
    .where("store_id", "=", storeId)
    .where("profile_id", "=", id)
    .where("issuer", "=", issuer)
    .where("subject", "is not", null)
    .limit(atMost(COUNTED));
  return (await countOf(trx, customers)) || countOf(trx, members);
}

/** How many rows a query with a limit finds. */
export async function countOf<O>(
  db: Database,
  some: SelectQueryBuilder<Tables, keyof Tables, O>,
): Promise<number> {
  const { total } = await db
    .selectFrom(some.as("some"))
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return total;
}
