import { limits } from "../../contract/limits.ts";
import type { Output } from "../../contract/operation.ts";
import type * as contract from "../../contract/setup-links.ts";
import type { Clock } from "../../lib/clock.ts";
import { toIso } from "../../lib/clock.ts";
import { hashSecret } from "../../lib/secrets.ts";
import { atMost } from "../../storage/at-most.ts";
import { deleteOld } from "../../storage/delete-old.ts";
import { statement } from "../../storage/statement.ts";
import type { Database, Storage } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import type { ProfileKey } from "../profile.ts";

/**
 * A link to a page for the administrator of an identity provider, who has no account here. Everyone who has the link's
 * token can open the page; the database has only its hash.
 *
 *     live ──► ended (its row is deleted), or expired
 */
export type SetupLink = Tables["setup_links"];

type Deps = { storage: Storage; clock: Clock };
type ShownLink = Output<typeof contract.listSetupLinks>["data"][number];

export const setupLinkResource = (link: SetupLink): ShownLink => ({
  id: link.id,
  type: "setup-link",
  profile_id: link.profile_id,
  expires_at: toIso(link.expires_at),
  meta: { timestamps: { created_at: toIso(link.created_at) } },
});

/** The links of a profile that work now, oldest first. */
export const listLive = (db: Database, key: ProfileKey, now: number): Promise<SetupLink[]> =>
  db
    .selectFrom("setup_links")
    .selectAll()
    .where("store_id", "=", key.storeId)
    .where("profile_id", "=", key.profileId)
    .where("expires_at", ">", now)
    .orderBy("id")
    .limit(atMost(limits.setupLinks))
    .execute();

/** The store follows from the link: the page's address names no store. Undefined: unknown, ended or expired. */
export const findByToken = ({ storage, clock }: Deps, token: string): Promise<SetupLink | undefined> =>
  findLive.first(storage.db, { tokenHash: hashSecret(token), now: clock.now() });

const findLive = statement((db, of: { tokenHash: string; now: number }) =>
  db
    .selectFrom("setup_links")
    .selectAll()
    .where("token_hash", "=", of.tokenHash)
    .where("expires_at", ">", of.now),
);

/** Deletes expired links. True: more are left. */
export const forgetSetupLinks = (deps: Deps): Promise<boolean> =>
  deleteOld(deps, "setup_links", deps.clock.now());
