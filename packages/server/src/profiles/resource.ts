import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/oidc-profiles.ts";
import type { Output } from "../contract/operation.ts";
import { presentPage, presentPageLinks } from "../contract/paging.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { type SignOnReason, signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import type { Page, PagePosition } from "../lib/condition.ts";
import { show } from "../lib/show.ts";
import { hostsOf } from "../openid/discovery.ts";
import type { Report } from "../openid/doctor.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { Adoptable } from "./adopt-identities.ts";
import type { Calls } from "./calls.ts";
import { digestOf, documentChanges } from "./drift.ts";
import type { HealthStatus } from "./health/health-states.ts";
import { hasSecret, type Profile } from "./profile.ts";

export type Presenting = { publicUrl: string; calls: Pick<Calls, "healthOf">; clock: Clock };
export type ProfileAnswer = Output<typeof contract.getProfile>;
export type ProfileView = Profile & { adoptable?: Adoptable[] };
export type ProfileList = { profiles: Profile[]; place: PagePosition; page: Page; realmId: string };
type ProfileReader = Pick<Caller, "grant">;

export const profileResource = (
  deps: Pick<Presenting, "calls" | "clock">,
  reader: ProfileReader,
  profile: Profile,
): ProfileAnswer["data"] => {
  const health = shownHealth(deps, profile);
  return {
    id: profile.id,
    type: "oidc-profile",
    name: profile.name,
    discovery_url: profile.discovery_url,
    client_id: profile.client_id,
    enabled: profile.enabled,
    flow: profile.flow,
    provisioning: profile.provisioning,
    propagate_logout: profile.propagate_logout,
    meta: {
      issuer: profile.metadata?.issuer ?? null,
      endpoint_hosts: profile.metadata ? [...hostsOf(profile.metadata)] : [],
      health: { status: health.status, since: toIso(health.since) },
      // An implicit token is public, so the members for administrators are left out.
      ...(isBackOffice(reader) && {
        has_client_secret: hasSecret(profile),
        has_next_client_secret: profile.sealed_client_secret_next !== null,
        pending_change: presentPending(profile),
        issuer_found: presentIssuerFound(profile),
        refused_logout: presentRefusedLogout(profile),
        former_issuers: presentFormerIssuers(profile),
      }),
      created_at: toIso(profile.created_at),
      updated_at: toIso(profile.updated_at),
    },
  };
};

/** A document that was read longer ago does not show that its provider is up. Readings are noted every six hours. */
const KNOWN_FOR_MS = 30 * 3_600_000;

/**
 * A provider's health as this instance, or with Valkey any instance, has seen it; else as the event log last reported
 * it; else up if its document was read within the last 30 hours; else unknown.
 */
export function shownHealth(
  { calls, clock }: Pick<Presenting, "calls" | "clock">,
  { id, enabled, told_health, read_at, updated_at: since, metadata }: Profile,
): { status: HealthStatus | "unknown"; since: number } {
  const reportedIll = told_health === "down" || told_health === "degraded" ? told_health : undefined;
  const seen = calls.healthOf(id, enabled && reportedIll !== undefined);
  if (seen) return seen;
  if (reportedIll) return { status: reportedIll, since };
  // A document from before readings were noted was read when it was accepted.
  const knownAt = read_at ?? (metadata ? since : null);
  const isKnown = knownAt !== null && clock.now() - knownAt < KNOWN_FOR_MS;
  return isKnown ? { status: "up", since } : { status: "unknown", since: knownAt ?? since };
}

/** Each issuer once, without the current one, which may be among them with another client. */
const presentFormerIssuers = ({ former_issuers, metadata }: Profile): string[] => [
  ...new Set(former_issuers.map(({ issuer }) => issuer).filter((issuer) => issuer !== metadata?.issuer)),
];

function presentRefusedLogout({
  refused_logout: refused,
}: Profile): ProfileAnswer["data"]["meta"]["refused_logout"] {
  if (!refused) return null;
  const reason = refused.reason as SignOnReason;
  const { means, remedy } = signOnReasonEntry(reason);
  return { at: toIso(refused.at), reason, means, remedy };
}

/** Findings that an administrator should look at. */
type FoundMeta = Output<typeof contract.checkProfile>["data"]["meta"];

export function presentPending({ metadata, pending }: Profile): FoundMeta["pending_change"] {
  if (!pending) return null;
  const changes = documentChanges(metadata, pending.metadata);
  return { since: toIso(pending.since), digest: digestOf(pending.metadata), changes };
}

const presentIssuerFound = ({ issuerFound }: Profile): FoundMeta["issuer_found"] =>
  issuerFound && { issuer: show(issuerFound.issuer), since: toIso(issuerFound.since) };

/** The link has a query already, so that clients can append with `&` whatever the flow is. */
export function presentLinks({ publicUrl }: { publicUrl: string }, profile: Profile): ProfileAnswer["links"] {
  const { store_id: storeId, realm_id: realmId, id } = profile;
  const signOn = issuerOf({ publicUrl }, storeId, realmId);
  return {
    self: `${publicUrl}/v2/authentication-realms/${realmId}/oidc-profiles/${id}`,
    "authorization-endpoint":
      profile.flow === "direct" ? directLink(profile) : `${signOn}/authorize?profile=${id}`,
    "callback-endpoint": `${signOn}/profiles/${id}/callback`,
    "backchannel-logout-endpoint": `${signOn}/profiles/${id}/backchannel-logout`,
    "signed-out-endpoint": `${signOn}/profiles/${id}/signed-out`,
    "client-discovery-url": `${signOn}/.well-known/openid-configuration`,
  };
}

function directLink({ id, metadata }: Profile): string | null {
  if (!metadata) return null;
  const { authorizationEndpoint } = metadata;
  return `${authorizationEndpoint}${authorizationEndpoint.includes("?") ? "&" : "?"}profile=${id}`;
}

export function presentProfile(deps: Presenting, reader: ProfileReader, profile: ProfileView): ProfileAnswer {
  const { meta, ...members } = profileResource(deps, reader, profile);
  const { adoptable } = profile;
  return {
    data: { ...members, meta: { ...meta, ...(adoptable && { adoptable }) } },
    links: presentLinks(deps, profile),
  };
}

/** For a command: as the API shows the profile, without the health, which only running instances know. */
export function presentAtRest(deps: Omit<Presenting, "calls">, profile: ProfileView) {
  const calls = { healthOf: () => undefined };
  const { data, links } = presentProfile({ ...deps, calls }, { grant: "client_credentials" }, profile);
  const { health: _, ...meta } = data.meta;
  return { ...data, meta, links };
}

export const presentProfileList = (
  deps: Presenting,
  reader: ProfileReader,
  { profiles, place, page, realmId }: ProfileList,
): Output<typeof contract.listProfiles> => ({
  data: profiles.map((profile) => ({
    ...profileResource(deps, reader, profile),
    links: presentLinks(deps, profile),
  })),
  meta: presentPage(page, place),
  links: presentPageLinks(`${deps.publicUrl}/v2/authentication-realms/${realmId}/oidc-profiles`, page, place),
});

export const presentReportMembers = (
  report: Report,
): Omit<Output<typeof contract.checkProfile>["data"], "meta"> => ({
  type: "oidc-profile-checks",
  discovery_url: report.discoveryUrl,
  issuer: report.issuer,
  endpoint_hosts: report.hosts,
  checks: report.checks,
  warnings: report.warnings,
  provider: report.provider && {
    key: report.provider.key,
    name: report.provider.name,
    guide: `docs/guides/providers/${report.provider.key}.md`,
    console: report.provider.console,
  },
  answer_ms: report.answerMs,
  clock_offset_seconds: report.clockOffsetSeconds,
});

export const presentReport = (
  deps: { publicUrl: string },
  profile: Profile,
  report: Report,
): Output<typeof contract.checkProfile> => ({
  data: {
    ...presentReportMembers(report),
    meta: { pending_change: presentPending(profile), issuer_found: presentIssuerFound(profile) },
  },
  links: presentLinks(deps, profile),
});
