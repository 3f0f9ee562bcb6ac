import type { Admin } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { type Provider, useProviders } from "../parts/profiles.ts";
import { useRealms } from "../parts/realms.ts";
import { useAdmin } from "../session/session.ts";
import { type Facts, ofShoppers } from "./steps.ts";

type Outcomes = Pick<Facts, "isTested" | "hasShopper">;

/** Looks for one sign-on of each provider of shoppers, and ends at the first shopper. */
async function readOutcomes({ signOns }: Admin, providers: readonly Provider[]): Promise<Outcomes> {
  const has = async (id: string, outcome: "exchanged" | "tested") =>
    (await signOns.list({ filter: `eq(profile_id,${id}):eq(outcome,${outcome})`, limit: 1 })).data.length > 0;
  let isTested = false;
  for (const { id } of ofShoppers(providers)) {
    if (await has(id, "exchanged")) return { isTested: true, hasShopper: true };
    isTested ||= await has(id, "tested");
  }
  return { isTested, hasShopper: false };
}

const EVERY_MS = 15_000;

type Found = { facts: Facts | undefined; error: unknown; again: () => void };

/** The facts behind the first steps. Events of the store refresh them, because the keys are those of the screens. */
export function useFacts(): Found {
  const admin = useAdmin();
  const providers = useProviders();
  const realms = useRealms();
  const ids = providers.data && ofShoppers(providers.data).map(({ id }) => id);
  const outcomes = useQuery({
    queryKey: ["sign-ons", "first steps", ids],
    queryFn: () => readOutcomes(admin, providers.data ?? []),
    enabled: ids !== undefined,
    // A sign-on is no event of the store.
    refetchInterval: ({ state }) => (state.data?.hasShopper ? false : EVERY_MS),
    placeholderData: (before: Outcomes | undefined) => before,
  });
  const members = useQuery({
    queryKey: ["members", "first steps"],
    queryFn: async () => (await admin.members.list({ limit: 2 })).data.length,
  });
  const queries = [providers, realms, outcomes, members];
  const isRead = providers.data && realms.data && outcomes.data && members.data !== undefined;
  return {
    facts: isRead
      ? {
          providers: providers.data,
          hasRedirectUri: realms.data.some(
            ({ purpose, redirect_uris }) => purpose === "customers" && redirect_uris.length > 0,
          ),
          hasColleague: members.data > 1,
          ...outcomes.data,
        }
      : undefined,
    error: queries.find(({ error }) => error)?.error,
    again: () => {
      for (const { isError, refetch } of queries) if (isError) void refetch();
    },
  };
}
