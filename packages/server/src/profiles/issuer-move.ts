import type { SelectQueryBuilder } from "kysely";
import { Problem } from "../contract/problem.ts";
import { show } from "../lib/show.ts";
import { atMost } from "../storage/at-most.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import type { FormerIssuer, MoveChoice, Profile, ProfileChange } from "./profile.ts";

/**
 * An identity row names its issuer, and a member is bound to an issuer. When a provider changes its issuer, every
 * customer would become a new customer, and every member would be locked out. So the administrator decides: leave the
 * identities behind, or carry them over, because the provider still uses the same subjects. Carrying over writes one
 * row: the profile names its former issuers, and every search for an identity looks under them, too.
 */

/** Identities and tokens are counted up to this number; there may be millions. */
export const COUNTED = 10_000;

/** The columns beside the new document. Throws when there are identities and the administrator has not chosen. */
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

/** The last known issuer, also while the document at a new discovery URL could not be read yet. */
export const issuerBefore = ({ metadata, former_issuers: formerIssuers }: Profile): string | undefined =>
  metadata?.issuer ?? formerIssuers.at(-1)?.issuer;

type NewClient = Pick<ProfileChange, "client_id">;

/**
 * Under another client of the same issuer a profile keeps its own identities. Identities that were taken over, from
 * this profile or by it, are searched by client (customers/identities/find-linked.ts), so the client before is kept as
 * well.
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

/** A query per issuer and profile: for several at once PostgreSQL would read all identities of a profile. */
async function countIdentities(trx: Trx, profile: Profile, former: readonly FormerIssuer[]): Promise<number> {
  let total = 0;
  for (const issuer of new Set(former.map((one) => one.issuer)))
    for (const id of [profile.id, ...profile.former_profile_ids])
      total += await countUnder(trx, { store_id: profile.store_id, id }, issuer);
  return Math.min(total, COUNTED);
}

/** Customers' identities; for a profile of the members' realm, the members that are bound to it. */
async function countUnder(
  trx: Trx,
  { store_id: storeId, id }: Pick<Profile, "store_id" | "id">,
  issuer: string,
): Promise<number> {
  const bound = (table: "customer_identities" | "members") =>
    trx
      .selectFrom(table)
      .select("id")
      .where("store_id", "=", storeId)
      .where("profile_id", "=", id)
      .where("issuer", "=", issuer)
      .limit(atMost(COUNTED));
  // The index of members has only those with a subject.
  const members = bound("members").where("subject", "is not", null);
  return (await countOf(trx, bound("customer_identities"))) || countOf(trx, members);
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
