import { type KnownProvider, knownProviders } from "../../contract/known-providers.ts";
import { limits } from "../../contract/limits.ts";
import type { Clock } from "../../lib/clock.ts";
import { createMemo } from "../../lib/memo.ts";
import type { Report } from "../../openid/doctor.ts";
import { recognise } from "../../openid/recognise.ts";
import { type Check, type RequirementId, requirements } from "../../openid/requirements.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Directory } from "../directory.ts";
import { withLiveEvidence } from "../live-evidence.ts";
import { findProfile, type Profile } from "../profile.ts";
import type { SetupLink } from "./setup-link.ts";

/**
 * The checks on the page of a set-up link. Opening the page asks the provider nothing: what it shows was found by a
 * check from the page, by the latest reading of the document, or by sign-ons.
 */

type SetupCheck = { id: RequirementId; status: Check["status"]; detail: string | null };
type FoundChecks = { checks: SetupCheck[]; checkedAt: number | null; provider: KnownProvider | null };

/** A check from the page, as the link's row keeps it. */
type KeptReport = { at: number; discoveryUrl: string; provider: string | null; checks: SetupCheck[] };

type Deps = { storage: Storage; clock: Clock; directory: Directory; setupEvidence: SetupEvidence };

/** The requirements that a document which is accepted meets. */
const OF_DOCUMENT: readonly RequirementId[] = ["R1", "R2", "R3", "R5"];

export async function findChecks(
  { setupEvidence }: Pick<Deps, "setupEvidence">,
  link: SetupLink,
  profile: Profile,
): Promise<FoundChecks> {
  const found = latestFindings(link, profile);
  const seen = await setupEvidence.of(profile);
  const checks = found.checks.map((check) => {
    const live = seen.get(check.id);
    return live && check.status !== "not_met" ? live : check;
  });
  return { ...found, checks };
}

function latestFindings({ report }: SetupLink, profile: Profile): FoundChecks {
  const { metadata, read_at: readAt, issuerFound } = profile;
  const kept: KeptReport | null = report === null ? null : JSON.parse(report);
  if (kept && kept.discoveryUrl === profile.discovery_url && kept.at >= (readAt ?? 0)) {
    const provider = knownProviders.find(({ key }) => key === kept.provider) ?? null;
    return { checks: kept.checks, checkedAt: kept.at, provider };
  }
  const isAccepted = metadata !== null && issuerFound === null;
  const statusOf = (id: RequirementId) => (isAccepted && OF_DOCUMENT.includes(id) ? "met" : "unknown");
  return {
    checks: IDS.map((id) => ({ id, status: statusOf(id), detail: null })),
    checkedAt: isAccepted ? readAt : null,
    provider:
      metadata &&
      recognise({
        issuer: metadata.issuer,
        authorization_endpoint: metadata.authorizationEndpoint,
        token_endpoint: metadata.tokenEndpoint,
        jwks_uri: metadata.jwksUri,
      }),
  };
}

const IDS = Object.keys(requirements) as RequirementId[];

/**
 * Checks the provider for the page, unless this link was used for a check within five minutes. One statement decides,
 * for all instances. So a stranger who has the link cannot make Latchkey send many requests.
 */
export async function checkForPage(deps: Deps, link: SetupLink): Promise<void> {
  const now = deps.clock.now();
  if (!(await claimCheck(deps, link, now))) return;
  const { store_id: storeId, realm_id: realmId, profile_id: profileId } = link;
  const profile = await findProfile(deps.storage.db, { storeId, realmId, profileId });
  if (!profile) return;
  const report = await deps.directory.check(profile);
  const kept: KeptReport = {
    at: deps.clock.now(),
    discoveryUrl: profile.discovery_url,
    provider: report.provider?.key ?? null,
    checks: report.checks.map((check) => ({
      id: check.id,
      status: check.status,
      detail: check.status === "not_met" ? detailOf(report, check) : null,
    })),
  };
  await deps.storage.write((db) =>
    db
      .updateTable("setup_links")
      .set({ report: JSON.stringify(kept) })
      .where("store_id", "=", storeId)
      .where("id", "=", link.id)
      .execute(),
  );
}

async function claimCheck({ storage }: Deps, { store_id, id }: SetupLink, now: number): Promise<boolean> {
  const { numUpdatedRows } = await storage.write((db) =>
    db
      .updateTable("setup_links")
      .set({ checked_at: now })
      .where("store_id", "=", store_id)
      .where("id", "=", id)
      .where(({ or, eb }) =>
        or([eb("checked_at", "is", null), eb("checked_at", "<=", now - limits.setupCheckSeconds * 1000)]),
      )
      .executeTakeFirst(),
  );
  return numUpdatedRows === 1n;
}

/** When the link can be used for the next check. */
export const nextCheckAt = ({ checked_at }: SetupLink): number =>
  checked_at === null ? 0 : checked_at + limits.setupCheckSeconds * 1000;

/** The evidence for an address that Latchkey does not ask is advice to the operator, so the page does not show it. */
const detailOf = ({ unreachable }: Report, { evidence, remedy }: Check): string | null =>
  unreachable?.reason === "address_not_allowed" || unreachable?.reason === "host_not_public"
    ? null
    : `${evidence} ${remedy ?? ""}`.trim();

type SeenChecks = ReadonlyMap<RequirementId, SetupCheck>;

/**
 * The requirements that sign-ons have shown, as read at most a minute ago: reading the latest sign-ons costs more than
 * a page for strangers should. Their evidence can quote a shopper's sign-on, so only status and remedy are kept.
 */
export class SetupEvidence {
  readonly #deps: { storage: Storage; clock: Clock };
  readonly #kept = createMemo<{ untilMs: number; seen: Promise<SeenChecks> }>(1000);

  constructor(deps: { storage: Storage; clock: Clock }) {
    this.#deps = deps;
  }

  of(profile: Profile): Promise<SeenChecks> {
    const nowMs = this.#deps.clock.monotonicMs();
    const name = `${profile.id} ${profile.updated_at}`;
    const known = this.#kept.get(name);
    if (known && known.untilMs > nowMs) return known.seen;
    const seen = this.#read(profile);
    this.#kept.keep(name, { untilMs: nowMs + KEPT_MS, seen });
    seen.catch(() => this.#kept.keep(name, { untilMs: 0, seen }));
    return seen;
  }

  async #read(profile: Profile): Promise<SeenChecks> {
    const unseen = IDS.map((id): Check => {
      return { id, requirement: requirements[id], status: "unknown", evidence: "", remedy: null };
    });
    const judged = await withLiveEvidence(this.#deps.storage.db, profile, unseen);
    return new Map(
      judged
        .filter(({ status }) => status !== "unknown")
        .map(({ id, status, remedy }) => [id, { id, status, detail: remedy }]),
    );
  }
}

const KEPT_MS = 60_000;
