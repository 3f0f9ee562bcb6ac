import { createHash } from "node:crypto";
import type { Metadata } from "../openid/discovery.ts";
import type { Tables } from "../storage/tables.ts";

/**
 * A provider whose issuer or the host of an endpoint is not what an administrator has seen has drifted: its new document
 * waits, and the approved one stays in use. Each endpoint is sent something else, so a host that was approved for one is not
 * for another. Paths, algorithms and the like are taken over as they come.
 */

type Documents = {
  metadata: Metadata | null;
  pending: { metadata: Metadata } | null;
  issuerFound?: object | null;
};
type Columns = Pick<
  Tables["oidc_profiles"],
  "metadata" | "pending_metadata" | "pending_since" | "issuer_found" | "issuer_found_at"
>;

/** What to write when the provider has answered with `found`; nothing when that is what waits already. */
export function columnsFor(
  { metadata, pending, issuerFound }: Documents,
  found: Metadata,
  nowMs: number,
): Partial<Columns> {
  if (!metadata || !hasDrifted(metadata, found)) return accepted(found);
  if (pending && isSame(pending.metadata, found)) return issuerFound ? UNMOVED : {};
  return { pending_metadata: JSON.stringify(found), pending_since: nowMs, ...UNMOVED };
}

/** The document is the issuer's own again. */
const UNMOVED = { issuer_found: null, issuer_found_at: null };

/** Its document names another issuer, and cannot be accepted: that is shown before a sign-on fails for it. */
export const movedTo = (
  issuer: string,
  nowMs: number,
): Pick<Columns, "issuer_found" | "issuer_found_at"> => ({ issuer_found: issuer, issuer_found_at: nowMs });

/** Null: there is no document to go by yet. */
export const accepted = (metadata: Metadata | null): Columns => ({
  metadata: metadata && JSON.stringify(metadata),
  pending_metadata: null,
  pending_since: null,
  ...UNMOVED,
});

const SHOWN = {
  issuer: "issuer",
  authorization_endpoint: "authorizationEndpoint",
  token_endpoint: "tokenEndpoint",
  jwks_uri: "jwksUri",
  userinfo_endpoint: "userinfoEndpoint",
} as const satisfies Record<string, keyof Metadata>;

type Change = { member: string; before: string | null; after: string | null };

/** Each member that is another than before, by its name in the document. */
export const documentChanges = (known: Metadata | null, found: Metadata): Change[] =>
  Object.entries(SHOWN).flatMap(([member, name]) => {
    const [before, after] = [known?.[name] ?? null, found[name]];
    return before === after ? [] : [{ member, before, after }];
  });

/** Names a document, so that an approval means the one that was shown. */
export const digestOf = (metadata: Metadata): string =>
  createHash("sha256").update(JSON.stringify(metadata)).digest("base64url");

export const isSame = (one: Metadata, other: Metadata): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** Mostly it is the same document, of which no address has to be taken apart. */
export const hasDrifted = (known: Metadata, found: Metadata): boolean =>
  !isSame(known, found) && approvedOf(known).join(" ") !== approvedOf(found).join(" ");

/** Without a userinfo endpoint it counts as one on the token endpoint's host, which makes the access token it would be sent. */
const approvedOf = (metadata: Metadata): string[] => [
  metadata.issuer,
  ...[
    metadata.authorizationEndpoint,
    metadata.tokenEndpoint,
    metadata.jwksUri,
    metadata.userinfoEndpoint ?? metadata.tokenEndpoint,
  ].map((url) => new URL(url).host),
];
