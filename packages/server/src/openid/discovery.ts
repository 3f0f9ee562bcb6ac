import { limits } from "../contract/limits.ts";
import { isAllowedUrl } from "../egress/address-rules.ts";
import {
  type EgressAnswer,
  type EgressReason,
  type IdpRequest,
  type IdpRequestKind,
  isEgressFault,
} from "../egress/egress-message.ts";
import { createMemo } from "../lib/memo.ts";
import { parseStrictJson } from "../lib/strict-json.ts";

/** The used members of a discovery document, each checked for its type. The document is input, not truth. */
export type Metadata = {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksUri: string;
  readonly userinfoEndpoint: string | null;
  readonly signingAlgorithms: readonly string[];
  readonly sendsIss: boolean;
  readonly supportsS256: boolean;
  /** Where a browser is sent after a sign-out. */
  readonly endSessionEndpoint?: string;
};

export type JsonObject = Record<string, unknown>;

export type DocumentReason = EgressReason | "redirected" | "status_not_200" | JsonRefusal;

/** A document of an identity provider, or the reason for none. */
type Fetched = { document: JsonObject; elapsedMs: number; dateMs: number | undefined } | DocumentFailure;

/** `status` is null when there was no answer. */
export type DocumentFailure = { reason: DocumentReason; status: number | null };

export type Send = (request: IdpRequest) => Promise<EgressAnswer>;

const SUFFIX = "/.well-known/openid-configuration";

/** An administrator may paste the issuer: the document's path comes behind it (Discovery 4.1), before a query. */
export function toDiscoveryUrl(text: string): string {
  const { prefix, query } = partsOf(text);
  return `${prefix}${SUFFIX}${query}`;
}

function partsOf(text: string): { prefix: string; query: string } {
  const queryAt = text.includes("?") ? text.indexOf("?") : text.length;
  const address = text.slice(0, queryAt).replace(/\/$/, "");
  const prefix = address.endsWith(SUFFIX) ? address.slice(0, -SUFFIX.length) : address;
  return { prefix, query: text.slice(queryAt) };
}

/**
 * The document's address must be made from the issuer (Discovery 4.3), to the letter. A slash at the issuer's end is
 * dropped when the address is made, so both spellings fit the address; the document's spelling is the issuer from then
 * on.
 */
export function isIssuerOf(issuer: string, discoveryUrl: string): boolean {
  const { prefix } = partsOf(discoveryUrl);
  return issuer === `${prefix}/` || (issuer === prefix && !prefix.endsWith("/"));
}

export const fetchDiscovery = (send: Send, discoveryUrl: string): Promise<Fetched> =>
  fetchDocument(send, "discovery", toDiscoveryUrl(discoveryUrl), limits.discoveryBytes);

export async function fetchDocument(
  send: Send,
  kind: IdpRequestKind,
  url: string,
  maxBytes: number,
): Promise<Fetched> {
  try {
    const answer = await send({ kind, url, maxBytes });
    const { status, headers, elapsedMs } = answer;
    if (status >= 300 && status < 400) return { reason: "redirected", status };
    if (status !== 200) return { reason: "status_not_200", status };
    const read = readAnswer(answer);
    if ("refusal" in read) return { reason: read.refusal, status };
    const { document } = read;
    const date = Date.parse(headers.date ?? "");
    return { document, elapsedMs, dateMs: Number.isNaN(date) ? undefined : date };
  } catch (error) {
    if (isEgressFault(error)) return { reason: error.reason, status: null };
    throw error;
  }
}

/** The JSON object of an answer, if its media type is JSON and the object can be read in one way only. */
export const readAnswer = ({ headers, body }: EgressAnswer): ReadObject =>
  /^application\/(jwk-set\+)?json\s*(;|$)/i.test(headers["content-type"] ?? "")
    ? readObject(body)
    : { refusal: "not_json" };

export function documentIn(answer: EgressAnswer): JsonObject | undefined {
  const read = readAnswer(answer);
  return "document" in read ? read.document : undefined;
}

/** Why an object was not read. All but `not_json` are valid JSON that Latchkey refuses. */
export type JsonRefusal = "not_json" | "duplicate_member" | "too_deep" | "lone_surrogate";

/** `member`: the object's member that has the fault. */
type ReadObject = { document: JsonObject } | { refusal: JsonRefusal; member?: string };

/** A provider may give its claims any name, `constructor` and `__proto__` included. */
export function readObject(bytes: Uint8Array): ReadObject {
  const parsed = parseStrictJson(bytes, limits.jsonDepth, { keepsEveryName: true });
  if ("value" in parsed) return isObject(parsed.value) ? { document: parsed.value } : { refusal: "not_json" };
  const { fault, ...where } = parsed;
  return fault === "duplicate_member" || fault === "too_deep" || fault === "lone_surrogate"
    ? { refusal: fault, ...where }
    : { refusal: "not_json" };
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const textOf = (document: JsonObject, member: string): string | undefined => {
  const value = document[member];
  return typeof value === "string" && value !== "" ? value : undefined;
};

/** A list of texts; `undefined` when the member is absent; an empty list when the member is something else. */
export function textsOf(document: JsonObject, member: string): string[] | undefined {
  const value = document[member];
  if (value === undefined) return undefined;
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : [];
}

export const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "jwks_uri",
  "userinfo_endpoint",
] as const;

/** For documents that have passed the checks. */
export function toMetadata(document: JsonObject): Metadata {
  const endSessionEndpoint = endSessionOf(document);
  return {
    issuer: textOf(document, "issuer") ?? "",
    authorizationEndpoint: textOf(document, "authorization_endpoint") ?? "",
    tokenEndpoint: textOf(document, "token_endpoint") ?? "",
    jwksUri: textOf(document, "jwks_uri") ?? "",
    userinfoEndpoint: textOf(document, "userinfo_endpoint") ?? null,
    signingAlgorithms: usableAlgorithms(document),
    sendsIss: document.authorization_response_iss_parameter_supported === true,
    supportsS256: textsOf(document, "code_challenge_methods_supported")?.includes("S256") ?? false,
    ...(endSessionEndpoint !== undefined && { endSessionEndpoint }),
  };
}

/**
 * Used only on the host of the authorization endpoint: an administrator has seen that host, and browsers are sent there
 * already. The rules of the other endpoints apply: the URL parser ignores a line break, which must not get into the
 * Location header.
 */
function endSessionOf(document: JsonObject): string | undefined {
  const [url = "", beside = ""] = [
    textOf(document, "end_session_endpoint"),
    textOf(document, "authorization_endpoint"),
  ];
  if (!URL.canParse(url) || !URL.canParse(beside)) return undefined;
  const { origin } = new URL(beside);
  return new URL(url).origin === origin && isAllowedUrl(url, [origin]) ? url : undefined;
}

/** Asymmetric algorithms only: the key that checks a token must not be able to sign one. */
export const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];

export const usableAlgorithms = (document: JsonObject): string[] => {
  const listed = textsOf(document, "id_token_signing_alg_values_supported") ?? [];
  return ALGORITHMS.filter((name) => listed.includes(name));
};

/** From the database. The same text gives the same object, so that derived values can be kept with it. */
export function storedMetadata(text: string): Metadata {
  const known = stored.get(text);
  if (known) return known;
  const metadata: Metadata = JSON.parse(text);
  stored.keep(text, metadata);
  return metadata;
}

const stored = createMemo<Metadata>(10_000);

export function hostsOf(metadata: Metadata): readonly string[] {
  const known = hosts.get(metadata);
  if (known) return known;
  const urls = [
    metadata.authorizationEndpoint,
    metadata.tokenEndpoint,
    metadata.jwksUri,
    metadata.userinfoEndpoint,
  ];
  const found = [...new Set(urls.flatMap((url) => (url ? [new URL(url).host] : [])))];
  hosts.set(metadata, found);
  return found;
}

const hosts = new WeakMap<Metadata, readonly string[]>();
