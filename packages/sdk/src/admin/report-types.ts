import type { Profile } from "./types.ts";

type ProfileMeta = Profile["meta"];

/** The result of examining an identity provider. */
export type ProfileReport = {
  type: "oidc-profile-checks";
  discovery_url: string;
  issuer: string | null;
  endpoint_hosts: string[];
  checks: {
    id: string;
    requirement: string;
    status: "met" | "not_met" | "unknown";
    evidence: string;
    remedy: string | null;
  }[];
  warnings: string[];
  /** Which provider it is, if its document gives it away. */
  provider: { key: string; name: string; guide: string; console: Record<string, string> } | null;
  answer_ms: number | null;
  clock_offset_seconds: number | null;
  /** As the profile has them now: a change that waits for `approveDrift`, and another issuer that its document names. */
  meta: {
    pending_change: NonNullable<ProfileMeta["pending_change"]> | null;
    issuer_found: NonNullable<ProfileMeta["issuer_found"]> | null;
  };
};
