import type { Admin } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import type { Provider } from "../parts/profiles.ts";
import { useAdmin } from "../session/session.ts";
import type { Grouping } from "./figures.ts";

async function readKeyNames({
  applicationKeys,
}: Pick<Admin, "applicationKeys">): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for await (const { id, name } of applicationKeys.list({ limit: 100 }).all()) names.set(id, name);
  return names;
}

/** Tells several apart. The whole id is in the address. */
const ending = (id: string): string => `…${id.slice(-6)}`;

/** Names of the providers or keys that figures belong to. Figures outlive both. */
export function useNames(
  grouping: Grouping,
  providers: readonly Provider[] | undefined,
): (id: string | null) => string {
  const admin = useAdmin();
  const keys = useQuery({
    queryKey: ["keys", "names"],
    queryFn: () => readKeyNames(admin),
    enabled: grouping === "key",
  });
  if (grouping === "key")
    return (id) => {
      if (id === null) return "No key";
      return keys.data?.get(id) ?? (keys.data ? `A key that was deleted (${ending(id)})` : "…");
    };
  return (id) => {
    if (id === null) return "Refused before a provider was known";
    return (
      providers?.find((one) => one.id === id)?.name ??
      (providers ? `A provider that was removed (${ending(id)})` : "…")
    );
  };
}
