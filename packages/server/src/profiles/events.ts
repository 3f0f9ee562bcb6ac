import type { EventType } from "../events/event.ts";
import type { EventDraft } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Calls } from "./calls.ts";
import type { Profile } from "./profile.ts";
import { presentPending, profileResource } from "./resource.ts";

/** The events of a profile. */

type Deps = { calls: Pick<Calls, "healthOf">; clock: Clock };
type ProfileEvent = Extract<EventType, `oidc_profile.${string}`>;

/** The profile as the back office sees it. */
export const shown = (deps: Deps, profile: Profile) =>
  profileResource(deps, { grant: "client_credentials" }, profile);

export const profileEvent = (deps: Deps, type: ProfileEvent, profile: Profile): EventDraft => ({
  type,
  subject: profile.id,
  resource: shown(deps, profile),
});

/** `changes` has each member of the waiting document that differs from the approved one. */
export const driftEvent = (
  deps: Deps,
  type: "oidc_profile.drift_detected" | "oidc_profile.drift_approved",
  before: Profile,
  after: Profile,
): EventDraft => {
  const pending = presentPending(type === "oidc_profile.drift_approved" ? before : after);
  const moved = after.issuerFound && {
    member: "issuer",
    before: after.metadata?.issuer ?? null,
    after: after.issuerFound.issuer,
  };
  const found = pending?.changes ?? (moved ? [moved] : []);
  const members = found.map(({ member, ...change }) => [member, change]);
  return { ...profileEvent(deps, type, after), changes: Object.fromEntries(members) };
};
