import type { Realm } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useAdmin } from "../session/session.ts";

/** Reads all pages, because any page may have the wanted realm. */
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

/** Whether the realm is for members, not for customers. */
export const useIsForMembers = (realmId: string): boolean =>
  useRealms().data?.find(({ id }) => id === realmId)?.purpose === "members";
