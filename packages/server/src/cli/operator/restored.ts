import type { Clock } from "../../lib/clock.ts";
import type { CarriedOver } from "../../restore/carry-over.ts";
import { disableWebhooks } from "../../restore/webhooks.ts";
import { atMost } from "../../storage/at-most.ts";
import type { Storage } from "../../storage/storage.ts";
import { formatTable } from "../table.ts";

/** The report of a restore: the rights that it took over, and those that may be back. */

type Deps = { storage: Storage; clock: Clock };

/** Webhooks are listed, because an operator must look at each. Customers are not counted: there may be millions. */
export type MayBeBack = {
  stores: number;
  applicationKeys: number;
  members: number;
  profiles: number;
  realms: number;
  /** Disabled until `latchkey integration enable`. */
  webhooks: { id: string; store_id: string; name: string; url: string }[];
};

const WEBHOOKS_SHOWN = 1000;

/**
 * Without the replaced database the ended rights are unknown, so webhooks stay disabled until an operator has looked at
 * them.
 */
export async function findWhatMayBeBack(deps: Deps): Promise<MayBeBack> {
  const { db } = deps.storage;
  const count = async (
    table: "stores" | "application_keys" | "members" | "oidc_profiles" | "authentication_realms",
  ) =>
    (
      await db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<number>().as("rows"))
        .executeTakeFirstOrThrow()
    ).rows;
  await disableWebhooks(deps);
  return {
    stores: await count("stores"),
    applicationKeys: await count("application_keys"),
    members: await count("members"),
    profiles: await count("oidc_profiles"),
    realms: await count("authentication_realms"),
    webhooks: await db
      .selectFrom("integrations")
      .select(["id", "store_id", "name", "url"])
      .where("disabled_reason", "=", "restored")
      .orderBy("id")
      .limit(atMost(WEBHOOKS_SHOWN))
      .execute(),
  };
}

export const describeMayBeBack = (found: MayBeBack): string =>
  [
    `Nothing here knows what was ended after the backup. Back may be, as they were then: stores (${found.stores} are here), application keys and ` +
      `secrets that were rotated out (${found.applicationKeys} keys), members and their roles (${found.members}), identity providers that were ` +
      `disabled or deleted (${found.profiles}), realms with redirect URIs that were removed (${found.realms}), and customers who were deleted or erased, ` +
      "with the passwords, addresses and identities that they had. Delete, erase and disable again what you had to.",
    "`latchkey after-restore --rotate-secrets` gives every key a new secret.",
    ...(found.webhooks.length === 0
      ? []
      : [
          "Webhooks send nothing until `latchkey integration enable --store <store> --id <webhook>`:",
          formatTable(
            ["store", "webhook", "name", "sends to"],
            found.webhooks.map(({ store_id, id, name, url }) => [store_id, id, name, new URL(url).host]),
          ),
        ]),
  ].join("\n");

export const mayBeBackAsJson = (found: MayBeBack | undefined) =>
  found
    ? {
        stores: found.stores,
        application_keys: found.applicationKeys,
        members: found.members,
        profiles: found.profiles,
        realms: found.realms,
        webhooks: found.webhooks.map(({ id, store_id, name }) => ({ id, store_id, name })),
      }
    : null;

export const describeCarried = (carried: CarriedOver): string =>
  [
    `carried over from the replaced database: ${carried.deleted_keys} keys were deleted since the backup and stay so, ` +
      `${carried.rotated_keys} keys have the secrets that they had there, ${carried.passwords} customers their password, ` +
      `${carried.removed_members} members were removed since and stay so, ${carried.roles} roles are what they were there; ` +
      `${carried.stores} stores, ${carried.realms} realms, ${carried.profiles} identity providers and ${carried.webhooks} webhooks are deleted or set as there; ` +
      `${carried.deleted_customers} customers stay deleted, ${carried.erased} people erased, ${carried.addresses} customers have the address ` +
      `and ${carried.identities} identities the customer, or none, as there`,
    ...(carried.unread.length === 0
      ? []
      : [
          `The replaced database is damaged: some rows of ${carried.unread.join(", ")} could not be read and are as in the backup. Check them.`,
        ]),
  ].join("\n");
