import type { Profile } from "@latchkey/sdk/admin";
import { UNREGISTERED } from "../parts/profiles.ts";

/** The steps of "Add a provider". The word of a step is in the address; the first step has no provider yet. */
export const STEPS = [
  { word: "provider", name: "Provider" },
  { word: "callback", name: "Callback" },
  { word: "secret", name: "Secret" },
  { word: "test", name: "Test and finish" },
] as const;

export type Step = (typeof STEPS)[number]["word"];

export const isRegistered = ({ client_id }: Pick<Profile, "client_id">): boolean =>
  client_id !== UNREGISTERED;

/**
 * The step that the address names, if the provider has come that far. An address without a step leads to the next
 * thing to do. The test needs the client's id and secret.
 */
export function stepOf(profile: Pick<Profile, "client_id">, asked: string | null): Step {
  if (asked === "callback" || asked === "secret") return asked;
  if (isRegistered(profile)) return "test";
  return asked === "test" ? "secret" : "callback";
}

type Place = { realm: string; profile: string; step?: Step; recipe?: string | undefined };

export const addressOf = ({ realm, profile, step, recipe }: Place): string =>
  `/providers/add?${new URLSearchParams({ realm, profile, ...(step && { step }), ...(recipe && { recipe }) })}`;
