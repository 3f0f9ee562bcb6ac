import type { Admin, Profile, ProfileLinks, Realm } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useAdmin } from "../session/session.ts";
import type { Tone } from "./text/pill.tsx";

/** A provider and its realm. */
export type Provider = Profile & { links: ProfileLinks; realm: Realm };

async function readProviders(admin: Admin): Promise<Provider[]> {
  const providers: Provider[] = [];
  for await (const realm of admin.realms.list({ limit: 100 }).all())
    for await (const profile of admin.profiles(realm.id).list({ limit: 100 }).all())
      providers.push({ ...profile, realm });
  return providers;
}

export function useProviders() {
  const admin = useAdmin();
  return useQuery({
    queryKey: ["providers"],
    queryFn: () => readProviders(admin),
    refetchInterval: 15_000,
  });
}

/** A placeholder until the provider's administrator has given a client id. */
export const UNREGISTERED = "not-registered-yet";

/** The path of a provider: the screen to finish it, if its client is not registered, else its own screen. */
export const pathOf = ({ id, client_id, realm }: Provider): string =>
  client_id === UNREGISTERED
    ? `/providers/add?realm=${realm.id}&profile=${id}`
    : `/realms/${realm.id}/providers/${id}`;

type State = { tone: Tone; word: string };

export function stateOf({ client_id, enabled, meta }: Profile): State {
  if (client_id === UNREGISTERED) return { tone: "plain", word: "Not finished" };
  if (!enabled) return { tone: "plain", word: "Disabled" };
  if (meta.pending_change) return { tone: "warn", word: "Change to review" };
  return {
    up: { tone: "good", word: "Up" },
    degraded: { tone: "warn", word: "Degraded" },
    down: { tone: "bad", word: "Down" },
    unknown: { tone: "plain", word: "Not called recently" },
  }[meta.health.status] as State;
}
