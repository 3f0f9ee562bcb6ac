import { z } from "zod";
import { filterParameter, instant, instantParameter, ofId, sortParameter, text } from "./filter.ts";
import { operation } from "./operation.ts";
import { answerOf, listOf, resource } from "./resource.ts";
import { id, pageQuery, textOrNull, timestamp } from "./shapes.ts";

/** The outcomes of a sign-on. */
export const OUTCOMES = [
  "code_issued",
  "exchanged",
  "failed",
  "expired",
  "tested",
  "logout_refused",
] as const;

const outcome = z
  .enum(OUTCOMES)
  .describe(
    "code_issued: the storefront has yet to redeem its code; expired: it never did; tested: a test sign-on that came through; logout_refused: no sign-on, but a logout token that was refused",
  );

const idpAnswer = z
  .strictObject({
    call: z
      .enum(["discovery", "authorize", "token", "userinfo"])
      .describe("Which call it was; authorize: what the redirect back brought, in which anybody can write"),
    status: z.int().nullable().describe("The HTTP status; null where there was no answer"),
    fault: textOrNull.describe("Why there was no answer, or none to go by"),
    error: textOrNull,
    error_description: textOrNull.describe("At most 500 characters; what looks like a secret is left out"),
  })
  .meta({ id: "IdentityProviderAnswer" });

const signOnMembers = {
  id,
  type: z.literal("sign-on"),
  reference: z
    .string()
    .describe("Shown on error pages and sent in error redirects, so that a shopper can quote it"),
  realm_id: id,
  profile_id: id.nullable(),
  profile_name: textOrNull,
  outcome,
  reason: textOrNull.describe("Why it failed; stable, see docs/errors.md"),
  error: textOrNull.describe("`error` of the redirect to the storefront"),
  means: textOrNull.describe("The reason in words"),
  remedy: textOrNull.describe("The remedy in words"),
  customer_id: id.nullable(),
  test: z.boolean().describe("A test sign-on of an administrator: it made no customer and no token"),
  redirect_uri: textOrNull.describe("Where the storefront wanted the shopper back, as it was sent"),
  browser: textOrNull.describe("In words: `Chrome 126`"),
  operating_system: textOrNull.describe("In words: `Windows`"),
  network: textOrNull.describe("Where it came from, by /24 or /64"),
  request_id: textOrNull.describe(
    "The `X-Request-Id` of the request that it failed in; null of one that did not fail",
  ),
  idp_answer: idpAnswer
    .nullable()
    .describe("The identity provider's answer, if the sign-on failed because of it"),
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

export const signOn = z.strictObject(signOnMembers).meta({ id: "SignOn" });

const signOns = resource({
  tag: "Sign-on records",
  access: "sign_ons",
  path: "/v2/sign-ons",
  ids: { id: "sign_on_not_found" },
});

export const listSignOns = operation({
  id: "listSignOns",
  ...signOns.list,
  summary: "List sign-ons: what came of each, and why",
  description:
    "What became of sign-ons, newest first: outcome, reason, the provider and a reference to find one by. `reference` is found in any spelling: lower case, spaces, no dash, `O` for `0`, `I` and `L` for `1`. `email` takes a whole address: it is kept as a keyed digest, not as it is.",
  query: pageQuery.extend({
    filter: filterParameter({
      reference: text,
      email: text,
      profile_id: ofId,
      outcome: text,
      reason: text,
      customer_id: ofId,
      request_id: ofId,
      started_at: instant,
    }),
    sort: sortParameter(["started_at"], "the newest first"),
  }),
  success: {
    status: 200,
    description: "One page of sign-ons, newest first unless `sort` says otherwise",
    schema: listOf(signOnMembers),
  },
  problems: ["filter_too_wide"],
});

export const getSignOn = operation({
  id: "getSignOn",
  ...signOns.get,
  summary: "Get one sign-on with every check that was made",
  description:
    "Every check with what was expected and found, and how long each step took. Never a token, code or secret.",
  success: { status: 200, description: "The sign-on", schema: answerOf(signOn) },
});

const counts = z.record(z.string(), z.int());
const quantile = z.int().nullable().describe("Milliseconds, within 5 %; null where it was never asked");
const step = z.enum(["minute", "hour", "day"]);

export const getSignOnStatistics = operation({
  id: "getSignOnStatistics",
  ...signOns.list,
  path: "/v2/sign-ons/statistics",
  summary: "Count sign-ons by how they ended and why, and how long each identity provider took",
  description:
    "Over all instances, at most a few seconds behind. A sign-on counts in the step in which it began, under what has become of it so far. Steps are those of UTC. At most 1,000 of them.",
  query: z.object({
    from: instantParameter("From the step that this lies in. Without it: 60 steps before `to`"),
    to: instantParameter("Up to this instant, which is not part of it. Without it: now"),
    step: step.default("hour").meta({ description: "How long a step is; `hour` if absent" }),
  }),
  success: {
    status: 200,
    description: "One entry for each step and identity provider with sign-ons, oldest first",
    onlyJson: true,
    schema: z.strictObject({
      data: z.array(
        z.strictObject({
          from: timestamp.describe("The beginning of the step"),
          profile_id: id.nullable().describe("Null: refused before it was known which"),
          outcomes: counts.describe("How many ended how"),
          reasons: counts.describe("Why those failed that did, and why a code was not redeemed"),
          idp_ms: z
            .strictObject({ p50: quantile, p95: quantile })
            .describe("How long the identity provider was waited for, all its answers together"),
        }),
      ),
      meta: z.strictObject({
        step,
        from: timestamp,
        to: timestamp.describe("The end of the last step"),
        kept_from: timestamp.describe("Figures of this step from before are no longer kept"),
      }),
    }),
  },
  problems: ["statistics_range_unfit"],
});
