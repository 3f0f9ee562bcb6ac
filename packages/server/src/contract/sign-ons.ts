import { z } from "zod";
import { choice, filterParameter, instant, instantParameter, ofId, sortParameter, text } from "./filter.ts";
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
    "code_issued: the code is not redeemed yet; expired: the code was never redeemed; tested: a test sign-on passed; logout_refused: no sign-on, but a logout token that was refused",
  );

const idpAnswer = z
  .strictObject({
    call: z
      .enum(["discovery", "authorize", "token", "userinfo"])
      .describe("The call that failed. authorize: the provider's redirect, which anyone can forge"),
    status: z.int().nullable().describe("The HTTP status; null if there was no answer"),
    fault: textOrNull.describe("Why there was no usable answer"),
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
  redirect_uri: textOrNull.describe("The `redirect_uri` that the storefront sent"),
  browser: textOrNull.describe("Such as `Chrome 126`"),
  operating_system: textOrNull.describe("Such as `Windows`"),
  network: textOrNull.describe("The browser's network, as /24 or /64"),
  request_id: textOrNull.describe(
    "The `X-Request-Id` of the request that failed; null if the sign-on did not fail",
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
  timings: z.record(z.string(), z.number()).describe("Milliseconds of each completed step"),
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
  summary: "List sign-ons with outcome and reason",
  description:
    "Newest first: outcome, reason, provider and reference. `reference` is found in any spelling: lower case, spaces, no dash, `O` for `0`, `I` and `L` for `1`. `email` takes a whole address: only a keyed digest of it is stored. `outcome` also takes `not_finished`, for `code_issued` and `expired` together, and `sign_on`, for all but `logout_refused`. `key_id` is the key of the statistics by key. The figures of `/v2/sign-ons/statistics` count the sign-ons of `eq(purpose,customers):eq(test,false):eq(outcome,sign_on)`, or of `eq(purpose,members):eq(test,false):eq(outcome,sign_on)`.",
  query: pageQuery.extend({
    filter: filterParameter({
      reference: text,
      email: text,
      profile_id: ofId,
      key_id: ofId,
      outcome: text,
      reason: text,
      customer_id: ofId,
      request_id: ofId,
      purpose: choice("customers", "members"),
      test: choice("true", "false"),
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

const STATISTICS_PURPOSES = ["customers", "members"] as const;
const STATISTICS_GROUPS = ["profile", "key"] as const;

const counts = z.record(z.string(), z.int());
const quantile = z.int().nullable().describe("Milliseconds, within 5 %; null if the provider was not called");
const step = z.enum(["minute", "hour", "day"]);
const stepStart = timestamp.describe("The beginning of the step");

const figures = {
  outcomes: counts.describe(
    "The number of sign-ons by outcome. `started`: the redirects to an identity provider, including those of shoppers who came back. It is counted apart from the other outcomes, strangers can inflate it, and a direct profile has none",
  ),
  reasons: counts.describe("The number of failures by reason, including codes that were not redeemed"),
  idp_ms: z
    .strictObject({ p50: quantile, p95: quantile })
    .describe("The time spent waiting for the identity provider, for all its answers together"),
};

const statisticsMeta = z.strictObject({
  step,
  from: timestamp,
  to: timestamp.describe("The end of the last step"),
  kept_from: timestamp.describe("Figures for this step exist from this time on"),
});

const byProfile = z.strictObject({
  from: stepStart,
  profile_id: id.nullable().describe("Null: refused before the provider was known"),
  ...figures,
});

const byKey = z.strictObject({
  from: stepStart,
  key_id: id
    .nullable()
    .describe(
      "The application key that is the client, else the key whose token redeemed the code; a deleted key too. Null: no key was known yet, or none took part",
    ),
  ...figures,
});

export const getSignOnStatistics = operation({
  id: "getSignOnStatistics",
  ...signOns.list,
  path: "/v2/sign-ons/statistics",
  summary: "Count sign-ons by how they ended and why, and how long each identity provider took",
  description:
    "Over all instances, at most a few seconds behind; `started` at most a minute. A sign-on counts in the step in which it began, under what has become of it so far. Shoppers alone, or members alone; test sign-ons are in neither. Steps are those of UTC. At most 1,000 of them.",
  query: z.object({
    from: instantParameter("From the step that this lies in. Without it: 60 steps before `to`"),
    to: instantParameter("Up to this instant, which is not part of it. Without it: now"),
    step: step.default("hour").meta({ description: "How long a step is; `hour` if absent" }),
    purpose: z
      .enum(STATISTICS_PURPOSES)
      .default("customers")
      .meta({ description: "Whose sign-ons: of shoppers if absent, or of members" }),
    group: z
      .enum(STATISTICS_GROUPS)
      .default("profile")
      .meta({ description: "`key`: the entries have `key_id` in place of `profile_id`" }),
  }),
  success: {
    status: 200,
    description:
      "One entry for each step and identity provider with sign-ons, oldest first; with `group=key` for each step and application key",
    onlyJson: true,
    schema: z.union([
      z.strictObject({ data: z.array(byProfile), meta: statisticsMeta }),
      z.strictObject({ data: z.array(byKey), meta: statisticsMeta }),
    ]),
  },
  problems: ["statistics_range_unfit"],
});
