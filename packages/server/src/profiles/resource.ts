import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/oidc-profiles.ts";
import type { Input, Output } from "../contract/operation.ts";
import { presentPage, presentPageLinks } from "../contract/paging.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { type SignOnReason, signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { createKeptText } from "../lib/kept-text.ts";
import { show } from "../lib/show.ts";
import { hostsOf } from "../openid/discovery.ts";
import type { Report } from "../openid/doctor.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { NewProfile, ProfileChange } from "./administer.ts";
import type { Calls } from "./calls.ts";
import { hasSecret } from "./client-secret.ts";
import { digestOf, documentChanges } from "./drift.ts";
import type { Profile, ProfileList, ProfileView } from "./profile.ts";
import { shownHealth } from "./shown-health.ts";

type Where = { publicUrl: string; calls: Pick<Calls, "healthOf">; clock: Clock };
type Reader = Pick<Caller, "grant">;
type Answer = Output<typeof contract.getProfile>;

export const profileResource = (
  { calls, clock }: Pick<Where, "calls" | "clock">,
  reader: Reader,
  profile: Profile,
): Answer["data"] => {
  const health = shownHealth(calls, clock, profile);
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
      // An implicit token is public: what only administrators may see is left out.
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

/** Once each, however many clients it had there; the issuer of now may be among them, with another client. */
const presentFormerIssuers = ({ former_issuers: formerIssuers, metadata }: Profile): string[] => [
  ...new Set(formerIssuers.map(({ issuer }) => issuer).filter((issuer) => issuer !== metadata?.issuer)),
];

function presentRefusedLogout({
  refused_logout: refusedLogout,
}: Profile): Answer["data"]["meta"]["refused_logout"] {
  if (!refusedLogout) return null;
  const reason = refusedLogout.reason as SignOnReason;
  const { means, remedy } = signOnReasonEntry(reason);
  return { at: toIso(refusedLogout.at), reason, means, remedy };
}

/** What was found of a provider that an administrator should look at. */
type Found = Output<typeof contract.checkProfile>["data"]["meta"];

export function presentPending({ metadata, pending }: Profile): Found["pending_change"] {
  if (!pending) return null;
  const changes = documentChanges(metadata, pending.metadata);
  return { since: toIso(pending.since), digest: digestOf(pending.metadata), changes };
}

const presentIssuerFound = ({ issuerFound }: Profile): Found["issuer_found"] =>
  issuerFound && { issuer: show(issuerFound.issuer), since: toIso(issuerFound.since) };

/** The link has a query already, so that clients can append with `&` whatever the flow is. */
export function presentLinks({ publicUrl }: Where, profile: Profile): Answer["links"] {
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

export function presentProfile(where: Where, reader: Reader, profile: ProfileView): Answer {
  const { meta, ...members } = profileResource(where, reader, profile);
  const adoptable = profile.adoptable?.map(({ profileId, identities }) => ({
    profile_id: profileId,
    identities,
  }));
  return {
    data: { ...members, meta: { ...meta, ...(adoptable && { adoptable }) } },
    links: presentLinks(where, profile),
  };
}

/** As the API shows it, but for its health, which only running instances know. */
export function presentAtRest(where: Omit<Where, "calls">, profile: ProfileView) {
  const calls = { healthOf: () => undefined };
  const { data, links } = presentProfile({ ...where, calls }, { grant: "client_credentials" }, profile);
  const { health: _, ...meta } = data.meta;
  return { ...data, meta, links };
}

export const presentProfileList = (
  where: Where,
  reader: Reader,
  { profiles, place, page, realmId }: ProfileList,
): Output<typeof contract.listProfiles> => ({
  data: profiles.map((profile) => ({
    ...profileResource(where, reader, profile),
    links: presentLinks(where, profile),
  })),
  meta: presentPage(page, place),
  links: presentPageLinks(
    `${where.publicUrl}/v2/authentication-realms/${realmId}/oidc-profiles`,
    page,
    place,
  ),
});

const listText = createKeptText<ProfileList>();

/** As text: a list that comes from memory was written before, for the same kind of reader, unless the health of one of them has changed. */
export function writeProfileList(where: Where, reader: Reader, list: ProfileList): string {
  const healths = list.profiles.map((profile) => {
    const { status, since } = shownHealth(where.calls, where.clock, profile);
    return `${status} ${since}`;
  });
  const besides = `${isBackOffice(reader)} ${healths.join()}`;
  return listText(list, besides, () => presentProfileList(where, reader, list));
}

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
  where: Where,
  { profile, report }: { profile: Profile; report: Report },
): Output<typeof contract.checkProfile> => ({
  data: {
    ...presentReportMembers(report),
    meta: { pending_change: presentPending(profile), issuer_found: presentIssuerFound(profile) },
  },
  links: presentLinks(where, profile),
});

export const toNewProfile = (body: Input<typeof contract.createProfile>["body"]): NewProfile =>
  toProfileChange(body) as NewProfile;

export const toProfileChange = ({ data }: Input<typeof contract.updateProfile>["body"]): ProfileChange => ({
  name: data.name,
  discovery_url: data.discovery_url,
  client_id: data.client_id,
  client_secret: data.client_secret,
  client_secret_next: data.client_secret_next,
  enabled: data.enabled,
  flow: data.flow,
  provisioning: data.provisioning,
  propagate_logout: data.propagate_logout,
  adopt_identities_of: data.adopt_identities_of,
  confirm: data.confirm,
});

export const toApproval = ({ data }: Input<typeof contract.approveDrift>["body"]) => ({
  digest: data.digest,
  adopt_identities_of: data.adopt_identities_of,
  confirm: data.confirm,
});
