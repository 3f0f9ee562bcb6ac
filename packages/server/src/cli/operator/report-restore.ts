import { setTimeout as sleep } from "node:timers/promises";
import type { CarriedOver } from "../../restore/carry-over.ts";
import { type EndedRights, endRestoredRights } from "../../restore/end-rights.ts";
import type { Deps } from "../../restore/replaced.ts";
import { disableWebhooks } from "../../restore/webhooks.ts";
import { atMost } from "../../storage/at-most.ts";
import { createProgress } from "../progress.ts";
import { formatTable } from "../table.ts";

/** The end of a restore, and its report: the rights that it ended or took over, and those that may be back. */

type Restored = {
  ended: EndedRights;
  /** `undefined`: the replaced database did not decide. */
  carried: CarriedOver | undefined;
  mayBeBack: MayBeBack | undefined;
};

/** Ends all earlier rights, and waits at most a second until new access tokens are valid. */
export async function endAll(deps: Deps, carried: CarriedOver | undefined): Promise<Restored> {
  const mayBeBack = carried ? undefined : await findWhatMayBeBack(deps);
  const progress = createProgress("ending what came back");
  const ended = await endRestoredRights(deps, (rows) => progress.show(rows, undefined)).finally(progress.end);
  await sleep(Math.max(0, ended.from - deps.clock.now()));
  return { ended, carried, mayBeBack };
}

const WEBHOOKS_SHOWN = 1000;

type MayBeBack = Awaited<ReturnType<typeof findWhatMayBeBack>>;

/**
 * Without the replaced database the ended rights are unknown, so webhooks stay disabled until an operator enables each
 * with `latchkey integration enable`. Webhooks are listed for this. Customers are not counted: there may be millions.
 */
async function findWhatMayBeBack(deps: Deps) {
  const { db } = deps.storage;
  type Counted = "stores" | "application_keys" | "members" | "oidc_profiles" | "authentication_realms";
  const count = async (table: Counted): Promise<number> => {
    const counted = db.selectFrom(table).select(({ fn }) => fn.countAll<number>().as("rows"));
    return (await counted.executeTakeFirstOrThrow()).rows;
  };
  await disableWebhooks(deps);
  return {
    stores: await count("stores"),
    application_keys: await count("application_keys"),
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

const describeMayBeBack = (found: MayBeBack): string =>
  [
    `Nothing here knows what was ended after the backup. Back may be, as they were then: stores (${found.stores} are here), application keys and ` +
      `secrets that were rotated out (${found.application_keys} keys), members and their roles (${found.members}), identity providers that were ` +
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

const describeEnded = (ended: EndedRights): string =>
  `ended: every access token, ${ended.customer_tokens} customer tokens, ${ended.sign_ons} sign-ons under way, ` +
  `${ended.rotated_secrets} rotated-out secrets in their grace, ${ended.setup_links} set-up links, ${ended.signing_keys} signing keys (the first use makes a new one)`;

const describeCarried = (carried: CarriedOver): string =>
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

/** `secrets`: the table of new secrets, if the command has made them. */
export const describeRestored = ({ ended, carried, mayBeBack }: Restored, secrets?: string): string =>
  [
    describeEnded(ended),
    ...(carried ? [describeCarried(carried)] : []),
    ...(secrets === undefined ? [] : [secrets]),
    ...(mayBeBack ? [describeMayBeBack(mayBeBack)] : []),
  ].join("\n");

export const restoredAsJson = ({ ended: { from: _, ...ended }, carried, mayBeBack }: Restored) => ({
  ended,
  carried_over: carried ?? null,
  may_be_back: mayBeBack
    ? { ...mayBeBack, webhooks: mayBeBack.webhooks.map(({ url: _, ...webhook }) => webhook) }
    : null,
});
