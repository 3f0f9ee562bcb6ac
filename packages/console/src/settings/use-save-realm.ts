import { type Admin, ApiError, type Realm, type RealmChange } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { isSame } from "../parts/forms/use-draft.ts";
import { say } from "../parts/text/notices.tsx";
import { useAdmin } from "../session/session.ts";

type SaveRealm = (change: RealmChange, done: string) => Promise<void>;

/** `shown`: the realm as it is on the screen. What somebody has saved since of the same fields is not written over. */
export function useSaveRealm(shown: Realm): SaveRealm {
  const admin = useAdmin();
  const queries = useQueryClient();
  const stale = () => queries.invalidateQueries({ queryKey: ["realms"] });
  return async (change, done) => {
    const saved = await save(admin.realms, change, shown).catch((refusal) => {
      // Maybe for what somebody else has saved: where no event tells of that, it would be refused each time.
      void stale();
      throw refusal;
    });
    // Shown from the answer: the reading below may be cut short by one that an event has begun.
    queries.setQueryData<Realm[]>(["realms"], (all) =>
      all?.map((one) => (one.id === saved.id ? saved : one)),
    );
    say(done);
    await stale();
  };
}

/** If-Match is of the realm as a whole: where somebody has changed other fields of it, it is read anew and tried once more. */
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
