import type { Realm } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useAdmin } from "../session/session.ts";

/** All of them, however many pages: the one that is looked for may be on the last. */
export function useRealms() {
  const admin = useAdmin();
  return useQuery({
    queryKey: ["realms"],
    queryFn: async () => {
      const realms: Realm[] = [];
      for await (const realm of admin.realms.list({ limit: 100 }).all()) realms.push(realm);
      return realms;
    },
  });
}

/** Whether a realm lets people of the store into the console, and not shoppers into the shop. */
export const useIsForMembers = (realmId: string): boolean =>
  useRealms().data?.find(({ id }) => id === realmId)?.purpose === "members";
