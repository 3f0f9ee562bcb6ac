import type { Realm, RealmChange } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { say } from "../parts/notices.tsx";
import { useAdmin } from "../session/session.ts";

/** `basedOn`: the realm as it is shown. What somebody has saved of it since is then not written over. */
type SaveRealm = (change: RealmChange, done: string, options?: { basedOn?: Realm }) => Promise<void>;

export function useSaveRealm(id: string): SaveRealm {
  const admin = useAdmin();
  const queries = useQueryClient();
  const stale = () => queries.invalidateQueries({ queryKey: ["realms"] });
  return async (change, done, options) => {
    const { data } = await admin.realms.update(id, change, options).catch((refusal) => {
      // Maybe for what somebody else has saved: where no event tells of that, it would be refused each time.
      void stale();
      throw refusal;
    });
    // Shown from the answer: the reading below may be cut short by one that an event has begun.
    queries.setQueryData<Realm[]>(["realms"], (all) => all?.map((one) => (one.id === id ? data : one)));
    say(done);
    await stale();
  };
}
