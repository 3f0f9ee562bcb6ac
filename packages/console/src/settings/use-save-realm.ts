import { type Admin, ApiError, type Realm, type RealmChange } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { isSame } from "../parts/forms/use-draft.ts";
import { say } from "../parts/text/notices.tsx";
import { useAdmin } from "../session/session.ts";

type SaveRealm = (change: RealmChange, done: string) => Promise<void>;

/** `shown`: the realm on the screen. Fields that another person has changed since are not overwritten. */
export function useSaveRealm(shown: Realm): SaveRealm {
  const admin = useAdmin();
  const queries = useQueryClient();
  const stale = () => queries.invalidateQueries({ queryKey: ["realms"] });
  return async (change, done) => {
    const saved = await save(admin.realms, change, shown).catch((refusal) => {
      // Another person's change may be the cause. Without a refetch, and without events, every retry would be refused.
      void stale();
      throw refusal;
    });
    // Shown from the answer: a refetch that an event starts may cancel the fetch below.
    queries.setQueryData<Realm[]>(["realms"], (all) =>
      all?.map((one) => (one.id === saved.id ? saved : one)),
    );
    say(done);
    await stale();
  };
}

/**
 * If-Match covers the whole realm. If another person has changed other fields, reads the realm and tries once
 * more.
 */
async function save(realms: Admin["realms"], change: RealmChange, basedOn: Realm): Promise<Realm> {
  try {
    return (await realms.update(basedOn.id, change, { basedOn })).data;
  } catch (refusal) {
    if (!(refusal instanceof ApiError && refusal.code === "realm_changed")) throw refusal;
    const { data: now } = await realms.get(basedOn.id);
    const fields = Object.keys(change) as (keyof RealmChange & keyof Realm)[];
    if (!fields.every((field) => isSame(now[field], basedOn[field]))) throw refusal;
    return (await realms.update(now.id, change, { basedOn: now })).data;
  }
}
