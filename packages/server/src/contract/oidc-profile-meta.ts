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
    "Another issuer than the one in use, which its document names although it is read from the same address: sign-ons will fail until one of the two is set right, or `discovery_url` is the new issuer's. For the back office only",
  );

/** The facts about an identity provider besides the entered ones. */
export const profileMeta = z.strictObject({
  issuer: textOrNull.describe("From discovery; null until it has been read"),
  endpoint_hosts: z.array(z.string()).describe("The hosts behind the identity provider's endpoints"),
  health: z.strictObject({
    status: z
      .enum(["up", "degraded", "down", "unknown"])
      .describe(
        "down: shoppers are sent back to the storefront with `temporarily_unavailable` until a probe finds it again. unknown: it was not asked for a day, or never",
      ),
    since: timestamp,
  }),
  has_client_secret: z
    .boolean()
    .optional()
    .describe("False only where the profile is not enabled. For the back office only"),
  has_next_client_secret: z.boolean().optional().describe("For the back office only"),
  pending_change: pendingChange.nullable().optional(),
  issuer_found: issuerFound.nullable().optional(),
  refused_logout: z
    .strictObject({ at: timestamp, reason: z.string(), means: z.string(), remedy: z.string() })
    .nullable()
    .optional()
    .describe(
      "The latest logout token that the identity provider has signed and that was refused. For the back office only",
    ),
  former_issuers: z
    .array(z.string())
    .optional()
    .describe(
      "Issuers that the provider had before, whose people were carried over. For the back office only",
    ),
  adoptable: z
    .array(z.strictObject({ profile_id: id, identities: z.int() }))
    .optional()
    .describe(
      "Deleted profiles for the same issuer and client id, with the number of their identities, counted up to 10,000. Unless their identities are adopted with `adopt_identities_of`, those people become new customers",
    ),
  created_at: timestamp,
  updated_at: timestamp,
});
