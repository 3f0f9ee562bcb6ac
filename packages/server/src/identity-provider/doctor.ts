import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import {
  type DocumentReason,
  fetchDiscovery,
  fetchDocument,
  hostsOf,
  isIssuerOf,
  type Metadata,
  type Send,
  textOf,
  textsOf,
  toMetadata,
} from "./discovery.ts";
import { readKeys, type SigningKey } from "./keys.ts";
import { type Check, judge, judgeUnread } from "./requirements.ts";

/** What an examination of an identity provider found. */
export type Report = {
  discoveryUrl: string;
  issuer: string | null;
  hosts: string[];
  checks: Check[];
  warnings: string[];
  answerMs: number | null;
  clockOffsetSeconds: number | null;
  /** Why its discovery document could not be read. */
  unreachable: DocumentReason | null;
  /** What to go on with; only when no requirement is missed. */
  metadata: Metadata | null;
  keys: SigningKey[];
};

type Deps = { send: Send; clock: Clock; allowedOrigins: readonly string[] };

export const reasons: Record<DocumentReason, string> = {
  resting: "it failed several times in a row and is left alone for a moment",
  address_not_allowed:
    "its address is not one that may be asked: https on the standard port with a public host name",
  host_unknown: "its host name is not known",
  host_not_public: "its host is not on the public internet",
  connect_failed: "no connection could be made",
  tls_failed: "its certificate is not valid for its name",
  too_slow: "it did not answer in time",
  too_large: "its answer is larger than we read",
  answer_broken: "its answer broke off or is not HTTP",
  answer_encoded: "its answer is compressed although we ask for plain",
  redirected: "it answers with a redirect, which we do not follow",
  status_not_200: "it does not answer 200",
  not_json: "its answer is not the JSON that it should be",
};

/** Reads its documents and judges them against the nine requirements. Two requests, no credentials. */
export async function examine(deps: Deps, discoveryUrl: string): Promise<Report> {
  const found = await fetchDiscovery(deps.send, discoveryUrl);
  if ("reason" in found) {
    return {
      discoveryUrl,
      issuer: null,
      hosts: [],
      checks: judgeUnread(`The document could not be read: ${reasons[found.reason]}.`),
      warnings: [],
      answerMs: null,
      clockOffsetSeconds: null,
      unreachable: found.reason,
      metadata: null,
      keys: [],
    };
  }
  const { document, elapsedMs, dateMs } = found;
  // Keys are asked for only where the document is the issuer's own.
  const isOwn = isIssuerOf(textOf(document, "issuer") ?? "", discoveryUrl);
  const keys = isOwn ? await fetchKeys(deps.send, textOf(document, "jwks_uri")) : undefined;
  const checks = judge({ discoveryUrl, document, keys, allowedOrigins: deps.allowedOrigins });
  const isSound = checks.every(({ status }) => status !== "not_met");
  const metadata = isSound ? toMetadata(document) : null;
  const clockOffsetSeconds = dateMs === undefined ? null : Math.round((dateMs - deps.clock.now()) / 1000);
  return {
    discoveryUrl,
    issuer: textOf(document, "issuer") ?? null,
    hosts: metadata ? hostsOf(metadata) : [],
    checks,
    warnings: warningsOf(metadata, textsOf(document, "code_challenge_methods_supported"), clockOffsetSeconds),
    answerMs: Math.round(elapsedMs),
    clockOffsetSeconds,
    unreachable: null,
    metadata,
    keys: keys ?? [],
  };
}

async function fetchKeys(send: Send, jwksUri: string | undefined): Promise<SigningKey[] | undefined> {
  if (jwksUri === undefined) return undefined;
  const found = await fetchDocument(send, "keys", jwksUri, limits.keysBytes);
  return "reason" in found ? undefined : readKeys(found.document);
}

function warningsOf(
  metadata: Metadata | null,
  challengeMethods: string[] | undefined,
  clockOffset: number | null,
): string[] {
  const warnings: string[] = [];
  if (metadata) {
    const home = new URL(metadata.issuer).host;
    const elsewhere = hostsOf(metadata).filter((host) => host !== home);
    if (elsewhere.length > 0)
      warnings.push(`Some endpoints are on other hosts than the issuer: ${elsewhere.join(", ")}.`);
  }
  if (challengeMethods && !challengeMethods.includes("S256"))
    warnings.push("It does not list PKCE with S256; we send it all the same.");
  if (clockOffset !== null && Math.abs(clockOffset) > limits.clockSkewSeconds) {
    warnings.push(
      "Its clock and ours are more than 60 seconds apart: sign-ons will fail until one of them is set right.",
    );
  }
  return warnings;
}
