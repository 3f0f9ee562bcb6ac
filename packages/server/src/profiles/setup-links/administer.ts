import { limits } from "../../contract/limits.ts";
import type { Output } from "../../contract/operation.ts";
import { Problem } from "../../contract/problem.ts";
import type * as contract from "../../contract/setup-links.ts";
import type { By } from "../../events/event.ts";
import { noteEvents } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { hashSecret, newCredential } from "../../lib/secrets.ts";
import type { Storage } from "../../storage/storage.ts";
import { changeStore } from "../../stores/store.ts";
import { findProfile, getProfile, type ProfileIds, type ProfileKey, profileKey } from "../profile.ts";
import { listLive, type SetupLink, setupLinkResource } from "./setup-link.ts";

type Deps = { storage: Storage; clock: Clock; publicUrl: string };
type CreatedLink = Output<typeof contract.createSetupLink>;

const DAY_MS = 86_400_000;

export async function listSetupLinks(
  deps: Deps,
  caller: { storeId: string },
  ids: ProfileIds,
): Promise<Output<typeof contract.listSetupLinks>> {
  const key = profileKey(caller, ids);
  await getProfile(deps, key);
  const links = await listLive(deps.storage.db, key, deps.clock.now());
  return { data: links.map(setupLinkResource) };
}

/** Only this answer has the link's token. */
export async function createSetupLink(
  deps: Deps,
  by: By,
  ids: ProfileIds,
  { expires_in_days: days }: { expires_in_days: number },
): Promise<CreatedLink> {
  const key = profileKey(by, ids);
  await getProfile(deps, key);
  const token = newCredential("lksl");
  const link = await insertLink(deps, by, key, hashSecret(token), days);
  return { data: { ...setupLinkResource(link), url: setupUrl(deps, token) } };
}

export const setupUrl = ({ publicUrl }: Pick<Deps, "publicUrl">, token: string): string =>
  `${publicUrl}/setup/${token}`;

/** Under the store's lock, so that of two requests for the last place the second finds five links, or no profile. */
async function insertLink(
  deps: Deps,
  by: By,
  key: ProfileKey,
  tokenHash: string,
  days: number,
): Promise<SetupLink> {
  const now = deps.clock.now();
  const link = await changeStore(deps, key.storeId, async (trx) => {
    if (!(await findProfile(trx, key))) throw new Problem("profile_not_found");
    if ((await listLive(trx, key, now)).length >= limits.setupLinks)
      throw new Problem("setup_links_full", { meta: { setup_links: limits.setupLinks } });
    const inserted = await trx
      .insertInto("setup_links")
      .values({
        id: newId(),
        store_id: key.storeId,
        realm_id: key.realmId,
        profile_id: key.profileId,
        token_hash: tokenHash,
        created_at: now,
        expires_at: now + days * DAY_MS,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const resource = setupLinkResource(inserted);
    await noteEvents(trx, deps, by, [{ type: "setup_link.created", subject: inserted.id, resource }]);
    return inserted;
  });
  if (!link) throw new Problem("token_invalid");
  return link;
}

/** An expired link answers as an unknown one, whether its row is still there or not. */
export async function deleteSetupLink(
  deps: Deps,
  by: By,
  { link: id, ...ids }: ProfileIds & { link: string },
): Promise<undefined> {
  const key = profileKey(by, ids);
  await getProfile(deps, key);
  await deps.storage.transact(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("setup_links")
      .where("store_id", "=", key.storeId)
      .where("profile_id", "=", key.profileId)
      .where("id", "=", id)
      .where("expires_at", ">", deps.clock.now())
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new Problem("setup_link_not_found");
    const resource = { type: "setup-link", id };
    await noteEvents(trx, deps, by, [{ type: "setup_link.deleted", subject: id, resource }]);
  });
}
