import type { Profile } from "@latchkey/sdk/admin";
import { type Provider, UNREGISTERED } from "../parts/profiles.ts";

/** The steps of "Add a provider". The word of a step is in the address; the first step has no provider yet. */
export const STEPS = [
  { word: "provider", name: "Provider" },
  { word: "callback", name: "Register" },
  { word: "secret", name: "Client ID and secret" },
  { word: "test", name: "Test and enable" },
] as const;

export type Step = (typeof STEPS)[number]["word"];

type Progress = Pick<Profile, "client_id"> & { meta: Pick<Profile["meta"], "has_client_secret"> };

/** Whether the provider's administrator has given a client id and its secret. */
export const isRegistered = ({ client_id, meta }: Progress): boolean =>
  client_id !== UNREGISTERED && meta.has_client_secret !== false;

/** Whether the steps were begun and not finished. They have no step for a direct provider. */
export const isHalfMade = (profile: Progress & Pick<Profile, "flow">): boolean =>
  profile.flow === "brokered" && !isRegistered(profile);

/**
 * The step that the address names, if the provider has come that far. An address without a step leads to the next
 * thing to do. The test needs the client's id and secret.
 */
export function stepOf(profile: Progress, asked: string | null): Step {
  if (asked === "callback" || asked === "secret") return asked;
  if (isRegistered(profile)) return "test";
  return asked === "test" || profile.client_id !== UNREGISTERED ? "secret" : "callback";
}

type Place = { realm: string; profile: string; step?: Step; recipe?: string | undefined };

export const addressOf = ({ realm, profile, step, recipe }: Place): string =>
  `/providers/add?${new URLSearchParams({ realm, profile, ...(step && { step }), ...(recipe && { recipe }) })}`;

/** The next step of a half-made provider. */
export const continueAt = ({ id, realm }: Pick<Provider, "id" | "realm">): string =>
  addressOf({ realm: realm.id, profile: id });
