import type { KnownProvider } from "../contract/known-providers.ts";
import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { show } from "../lib/show.ts";
import {
  type DocumentFailure,
  fetchDiscovery,
  hostsOf,
  isIssuerOf,
  type Metadata,
  type Send,
  textOf,
  textsOf,
  toDiscoveryUrl,
  toMetadata,
} from "./discovery.ts";
import { explainDocumentFailure, hasRemedy } from "./document-failure.ts";
import { fetchKeys } from "./fetch-keys.ts";
import type { SigningKey } from "./keys.ts";
import { attentionTo, inItsWords, recognise } from "./recognise.ts";
import { CHECK_ADDRESS, type Check, judge, judgeUnread } from "./requirements.ts";

/** The result of examining an identity provider. */
export type Report = {
  discoveryUrl: string;
  issuer: string | null;
  hosts: string[];
  checks: Check[];
  warnings: string[];
  /** The provider, if it is one of the known ones. */
  provider: KnownProvider | null;
  answerMs: number | null;
  clockOffsetSeconds: number | null;
  /** Why the discovery document could not be read. */
  unreachable: DocumentFailure | null;
  /** Null when a requirement is missed. */
  metadata: Metadata | null;
  keys: SigningKey[];
};

type Deps = { send: Send; clock: Clock; allowedOrigins: readonly string[] };

/** The longest URL. */
const MAX_ISSUER_LENGTH = 2048;

/** Reads the provider's documents and judges them by the nine requirements. Two requests, no credentials. */
export async function examine(deps: Deps, discoveryUrl: string): Promise<Report> {
  const found = await fetchDiscovery(deps.send, discoveryUrl);
  if ("reason" in found) {
    return {
      discoveryUrl,
      issuer: null,
      hosts: [],
      checks: judgeUnread(
        `${toDiscoveryUrl(discoveryUrl)} could not be read: ${explainDocumentFailure(found, discoveryUrl)}.`,
        hasRemedy(found) ? null : CHECK_ADDRESS,
      ),
      warnings: [],
      provider: null,
      answerMs: null,
      clockOffsetSeconds: null,
      unreachable: found,
      metadata: null,
      keys: [],
    };
  }
  const { document, elapsedMs, dateMs } = found;
  // The key set is read only if the document is the issuer's own.
  const issuer = textOf(document, "issuer");
  const isOwn = isIssuerOf(issuer ?? "", discoveryUrl);
  const keys = isOwn ? await fetchKeys(deps.send, textOf(document, "jwks_uri")) : undefined;
  const checks = judge({ discoveryUrl, document, keys, allowedOrigins: deps.allowedOrigins });
  const provider = recognise(document);
  const isSound = checks.every(({ status }) => status !== "not_met");
  const metadata = isSound ? toMetadata(document) : null;
  const clockOffsetSeconds = dateMs === undefined ? null : Math.round((dateMs - deps.clock.now()) / 1000);
  return {
    discoveryUrl,
    // The issuer is stored, shown and printed even if it cannot be accepted; then it may be a text of any length.
    issuer: issuer === undefined ? null : show(issuer, MAX_ISSUER_LENGTH),
    hosts: metadata ? [...hostsOf(metadata)] : [],
    checks: inItsWords(provider, checks),
    warnings: [
      ...warningsOf(metadata, textsOf(document, "code_challenge_methods_supported"), clockOffsetSeconds),
      ...attentionTo(provider, checks),
    ],
    provider,
    answerMs: Math.round(elapsedMs),
    clockOffsetSeconds,
    unreachable: null,
    metadata,
    keys: keys ?? [],
  };
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
      warnings.push(
        `Some endpoints are on ${elsewhere.length === 1 ? "another host" : "other hosts"} than the issuer: ${elsewhere.join(", ")}.`,
      );
  }
  if (challengeMethods && !challengeMethods.includes("S256"))
    warnings.push("It does not list PKCE with S256; Latchkey sends it anyway.");
  if (clockOffset !== null && Math.abs(clockOffset) > limits.clockSkewSeconds) {
    warnings.push(
      "Its clock and Latchkey's are more than 60 seconds apart: sign-ons fail until one of them is corrected.",
    );
  }
  return warnings;
}
