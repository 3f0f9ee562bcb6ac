import { z } from "zod";
import { filterParameter, instant, sortParameter, text } from "./filter.ts";
import { operation } from "./operation.ts";
import { id, pageLinks, pageMeta, pageQuery, timestamp, url } from "./shapes.ts";

const outcome = z
  .enum(["code_issued", "exchanged", "failed", "expired"])
  .describe("code_issued: the storefront has yet to redeem its code; expired: it never did");

const signOnMembers = {
  id,
  type: z.literal("sign-on"),
  reference: z.string().describe("What a shopper can read out: it is on error pages and in error redirects"),
  realm_id: id,
  profile_id: id.nullable(),
  profile_name: z.string().nullable(),
  outcome,
  reason: z.string().nullable().describe("Why it failed; stable, see docs/errors.md"),
  error: z.string().nullable().describe("What the storefront was told"),
  means: z.string().nullable().describe("The reason in words"),
  remedy: z.string().nullable().describe("What to do about it"),
  customer_id: id.nullable(),
  checks: z.array(
    z.strictObject({
      check: z.string(),
      passed: z.boolean(),
      expected: z.string().optional(),
      found: z.string().optional(),
    }),
  ),
  timings: z.record(z.string(), z.number()).describe("Milliseconds of each step, as far as it came"),
  meta: z.strictObject({ timestamps: z.strictObject({ started_at: timestamp, updated_at: timestamp }) }),
};

const links = z.strictObject({ self: url });
const signOn = z.strictObject(signOnMembers).meta({ id: "SignOn" });

export const listSignOns = operation({
  id: "listSignOns",
  tag: "Sign-on records",
  method: "GET",
  path: "/v2/sign-ons",
  summary: "List sign-ons: what came of each, and why",
  access: ["sign_ons", "read"],
  role: "viewer",
  query: pageQuery.extend({
    filter: filterParameter({
      reference: text("eq"),
      profile_id: text("eq"),
      outcome: text("eq"),
      reason: text("eq"),
      customer_id: text("eq"),
      started_at: instant,
    }),
    sort: sortParameter(["started_at"], "the newest first"),
  }),
  success: {
    status: 200,
    description: "One page of sign-ons, newest first unless `sort` says otherwise",
    schema: z.strictObject({
      data: z.array(z.strictObject({ ...signOnMembers, links })),
      meta: z.strictObject(pageMeta),
      links: pageLinks,
    }),
  },
  problems: ["filter_too_wide"],
});

export const getSignOn = operation({
  id: "getSignOn",
  tag: "Sign-on records",
  method: "GET",
  path: "/v2/sign-ons/{id}",
  summary: "Get one sign-on with every check that was made",
  access: ["sign_ons", "read"],
  role: "viewer",
  ids: { id: "sign_on_not_found" },
  success: { status: 200, description: "The sign-on", schema: z.strictObject({ data: signOn, links }) },
});
