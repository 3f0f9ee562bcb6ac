import { z } from "zod";
import { id, textOrNull, timestamp } from "./shapes.ts";

export const pendingChange = z
  .strictObject({
    since: timestamp,
    digest: z.string().describe("Identifies the new document, for approve-drift"),
    changes: z.array(z.strictObject({ member: z.string(), before: textOrNull, after: textOrNull })),
  })
  .describe(
    "A change of the provider's document that waits for POST …/approve-drift. Until then the old document is used. For the back office only",
  );

export const issuerFound = z
  .strictObject({ issuer: z.string(), since: timestamp })
  .describe(
    "The issuer that the document names, if it is not the issuer in use. Sign-ons fail until the provider corrects its document, or until `discovery_url` is the new issuer's. For the back office only",
  );

/** The facts about an identity provider besides the entered ones. */
export const profileMeta = z.strictObject({
  issuer: textOrNull.describe("From the discovery document; null until it has been read"),
  endpoint_hosts: z.array(z.string()).describe("The hosts behind the identity provider's endpoints"),
  health: z.strictObject({
    status: z
      .enum(["up", "degraded", "down", "unknown"])
      .describe(
        "down: shoppers are sent back to the storefront with `temporarily_unavailable` until a probe gets an answer. unknown: no request was sent for a day, or ever",
      ),
    since: timestamp,
  }),
  has_client_secret: z
    .boolean()
    .optional()
    .describe("False only if the profile is not enabled. For the back office only"),
  has_next_client_secret: z.boolean().optional().describe("For the back office only"),
  pending_change: pendingChange.nullable().optional(),
  issuer_found: issuerFound.nullable().optional(),
  refused_logout: z
    .strictObject({ at: timestamp, reason: z.string(), means: z.string(), remedy: z.string() })
    .nullable()
    .optional()
    .describe(
      "The latest refused logout token that the identity provider has signed. For the back office only",
    ),
  former_issuers: z
    .array(z.string())
    .optional()
    .describe("The profile's former issuers whose identities were carried over. For the back office only"),
  adoptable: z
    .array(z.strictObject({ profile_id: id, identities: z.int() }))
    .optional()
    .describe(
      "Deleted profiles for the same issuer and client id, with the number of their identities, counted up to 10,000. Unless `adopt_identities_of` adopts these identities, their people become new customers",
    ),
  created_at: timestamp,
  updated_at: timestamp,
});
