import type { SelectQueryBuilder } from "kysely";
import { Problem } from "../contract/problem.ts";
import { show } from "../lib/show.ts";
import { atMost } from "../storage/at-most.ts";
import type { Trx } from "../storage/storage.ts";
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
  adoptIdentitiesOf?: string | null | undefined;
  /** The profile's name, so that nobody carries over by accident. */
  confirm?: string | undefined;
};

/** Up to here identities are counted; there may be millions. */
const COUNTED = 10_000;

/** What to write beside the new document; throws where there is somebody to choose for, and no choice. */
export async function columnsOfMove(
  trx: Trx,
  profile: Profile,
  issuerAfter: string | null,
  { adoptIdentitiesOf, confirm }: MoveChoice,
): Promise<{ former_issuers?: string }> {
  const before = profile.metadata?.issuer;
  if (before === undefined) return {};
  const former = withIssuer(profile.formerIssuers, { issuer: before, clientId: profile.clientId });
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
  return { former_issuers: JSON.stringify(former.filter(({ issuer }) => issuer !== issuerAfter)) };
}

export const withIssuer = (known: readonly FormerIssuer[], added: FormerIssuer): FormerIssuer[] => [
  ...known.filter(({ issuer, clientId }) => issuer !== added.issuer || clientId !== added.clientId),
  added,
];

/** Issuer by issuer: for several at once PostgreSQL reads all that the profile has. */
async function countIdentities(trx: Trx, profile: Profile, former: readonly FormerIssuer[]): Promise<number> {
  let total = 0;
  for (const issuer of new Set(former.map((one) => one.issuer)))
    total += await countUnder(trx, profile, issuer);
  return Math.min(total, COUNTED);
}

/** Customers' identities, or, of a profile of the members' realm, the members that it has bound. */
async function countUnder(trx: Trx, { storeId, id, formerIds }: Profile, issuer: string): Promise<number> {
  const customers = trx
    .selectFrom("customer_identities")
    .select("id")
    .where("store_id", "=", storeId)
    .where("profile_id", "in", [id, ...formerIds])
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

/** By the index on profile, issuer and subject. */
async function countOf(
  trx: Trx,
  some: SelectQueryBuilder<Tables, keyof Tables, { id: string }>,
): Promise<number> {
  const { total } = await trx
    .selectFrom(some.as("some"))
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return total;
}
