import { z } from "zod";
import { issuerFound, pendingChange, profileMeta } from "./oidc-profile-meta.ts";
import { textOrNull } from "./shapes.ts";

const check = z.strictObject({
  id: z.string().describe("R1 to R9, in the order of the requirements on an identity provider"),
  requirement: z.string(),
  status: z.enum(["met", "not_met", "unknown"]).describe("unknown: only a live sign-on can tell"),
  evidence: z.string(),
  remedy: textOrNull,
});

const findings = {
  type: z.literal("oidc-profile-checks"),
  discovery_url: z.string().meta({ format: "uri" }),
  issuer: textOrNull,
  endpoint_hosts: z.array(z.string()),
  checks: z.array(check),
  warnings: z.array(z.string()),
  provider: z
    .strictObject({
      key: z.string(),
      name: z.string(),
      guide: z.string().describe("Its recipe, in this project's documentation"),
      console: z.record(z.string(), z.string()).describe("Where each setting is in its console"),
    })
    .nullable()
    .describe("The product, if the document shows it"),
  answer_ms: z.int().nullable().describe("The time to read the discovery document"),
  clock_offset_seconds: z.int().nullable().describe("The identity provider's clock minus Latchkey's"),
};

const found = { pending_change: pendingChange.nullable(), issuer_found: issuerFound.nullable() };

/** The doctor's findings. */
export const providerReport = z
  .strictObject({
    ...findings,
    meta: z.strictObject(found).describe("The profile's `meta` after these checks"),
  })
  .meta({ id: "IdentityProviderReport" });

/** The same before there is a profile. */
export const newProviderReport = z
  .strictObject({
    ...findings,
    meta: z.strictObject({ ...found, adoptable: profileMeta.shape.adoptable }),
  })
  .meta({ id: "NewIdentityProviderReport" });
