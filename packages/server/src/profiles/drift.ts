import { createHash } from "node:crypto";
import type { Metadata } from "../openid/discovery.ts";
import type { Profile, ProfileColumns } from "./profile.ts";

/**
 * A provider has drifted when its document names another issuer, or another host of an endpoint, than the approved
 * document. The new document then waits for an administrator, and the approved document stays in use. Each endpoint is
 * sent other secrets, so a host that is approved for one endpoint is not approved for another. Paths, algorithms and
 * the like need no approval.
 */

/** The columns to write when the provider has answered with `found`; none when that document waits already. */
export function columnsFor(
  { metadata, pending, issuerFound }: Pick<Profile, "metadata" | "pending" | "issuerFound">,
  found: Metadata,
  nowMs: number,
): ProfileColumns {
  if (!metadata || !hasDrifted(metadata, found)) return acceptedColumns(found);
  if (pending && isSame(pending.metadata, found)) return issuerFound ? UNMOVED : {};
  return { pending_metadata: JSON.stringify(found), pending_since: nowMs, ...UNMOVED };
}

/** The document names the approved issuer again. */
const UNMOVED = { issuer_found: null, issuer_found_at: null };

/** The document names another issuer. The profile shows that before a sign-on fails because of it. */
export const movedTo = (issuer: string, nowMs: number) => ({ issuer_found: issuer, issuer_found_at: nowMs });

/** Null: no document was accepted yet. */
export const acceptedColumns = (metadata: Metadata | null) => ({
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

type DocumentChange = { member: string; before: string | null; after: string | null };

/** Each member that has changed, by its name in the document. */
export const documentChanges = (known: Metadata | null, found: Metadata): DocumentChange[] =>
  Object.entries(SHOWN).flatMap(([member, name]) => {
    const [before, after] = [known?.[name] ?? null, found[name]];
    return before === after ? [] : [{ member, before, after }];
  });

/** Names a document, so that an approval is for the document that the administrator was shown. */
export const digestOf = (metadata: Metadata): string =>
  createHash("sha256").update(JSON.stringify(metadata)).digest("base64url");

export const isSame = (one: Metadata, other: Metadata): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** Nearly always the document is the same: then no URL is parsed. */
export const hasDrifted = (known: Metadata, found: Metadata): boolean =>
  !isSame(known, found) && approvedOf(known).join(" ") !== approvedOf(found).join(" ");

/** An absent userinfo endpoint counts as one on the token endpoint's host, which makes the access token. */
const approvedOf = (metadata: Metadata): string[] => [
  metadata.issuer,
  ...[
    metadata.authorizationEndpoint,
    metadata.tokenEndpoint,
    metadata.jwksUri,
    metadata.userinfoEndpoint ?? metadata.tokenEndpoint,
  ].map((url) => new URL(url).host),
];
