import { limits } from "../../contract/limits.ts";
import { byOperator } from "../../events/event.ts";
import { getRealmOf } from "../../profiles/profile.ts";
import { createSetupLink, deleteSetupLink, listSetupLinks } from "../../profiles/setup-links/administer.ts";
import { readWhole } from "../options.ts";
import { formatTable } from "../table.ts";
import { confirm } from "./confirm.ts";
import { type FromStore, fromStore } from "./require-store.ts";
import { printAnswer } from "./show-list.ts";
import type { CommandDeps } from "./with-storage.ts";

type OfProfile = FromStore & { argument: string };

const idsOf = async (deps: CommandDeps, storeId: string, profileId: string) => ({
  realm: await getRealmOf(deps, storeId, profileId),
  id: profileId,
});

export async function create({ argument, store, days, json }: OfProfile & { days: string }): Promise<void> {
  const lifetime = { expires_in_days: readWhole(days, "--days", 1, limits.setupLinkDays) };
  const { data: link } = await fromStore(store, async (deps, storeId) =>
    createSetupLink(deps, byOperator(storeId), await idsOf(deps, storeId, argument), lifetime),
  );
  printAnswer(
    json,
    { setup_link: link },
    `${link.url}\nworks until ${link.expires_at}; its id is ${link.id}. The address is not shown again.`,
  );
}

export async function show({ argument, store, json }: OfProfile): Promise<void> {
  const { data: links } = await fromStore(store, async (deps, storeId) =>
    listSetupLinks(deps, { storeId }, await idsOf(deps, storeId, argument)),
  );
  const rows = links.map(({ id, expires_at, meta }) => [id, meta.timestamps.created_at, expires_at]);
  const text = links.length === 0 ? "no set-up link works" : formatTable(["id", "made", "works until"], rows);
  printAnswer(json, { setup_links: links }, text);
}

type RemoveOptions = OfProfile & { profile: string; yes: boolean };

export async function remove({ argument: link, profile, store, yes, json }: RemoveOptions): Promise<void> {
  await fromStore(store, async (deps, storeId) => {
    const ids = await idsOf(deps, storeId, profile);
    await confirm("This ends the link at once. Its page shows nothing any more.", yes);
    await deleteSetupLink(deps, byOperator(storeId), { ...ids, link });
  });
  printAnswer(json, { deleted: link }, `deleted ${link}`);
}
