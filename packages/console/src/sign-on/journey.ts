import type { SignOn } from "@latchkey/sdk/admin";

/**
 * Turns a sign-on record into steps: what happened on which leg, how long it took, and at which step it
 * ended.
 */
export type Step = {
  leg: 1 | 2;
  /** Names what was done; the title of a failed step names what failed. */
  title: string;
  status: "done" | "failed" | "unreached";
  ms: number | undefined;
  checks: SignOn["checks"];
};

type Plan = {
  leg: 1 | 2;
  title: string;
  failed: string;
  /** The prefixes of the step's checks and reasons. */
  owns: readonly string[];
  timings: readonly string[];
};

const PLAN: readonly Plan[] = [
  {
    leg: 1,
    title: "The storefront sent the shopper here",
    failed: "Request of the storefront refused",
    owns: [],
    timings: [],
  },
  {
    leg: 2,
    title: "The shopper went to the provider and came back",
    failed: "Sign-in at the provider failed",
    owns: ["response.", "idp_", "callback", "attempt_", "browser_"],
    timings: ["discovery"],
  },
  {
    leg: 2,
    title: "Code of the provider exchanged",
    failed: "Code exchange with the provider failed",
    owns: ["token."],
    timings: ["wait", "token"],
  },
  {
    leg: 2,
    title: "ID token checked",
    failed: "ID token check failed",
    owns: ["id_token."],
    timings: ["identify"],
  },
  {
    leg: 2,
    title: "Person identified",
    failed: "Person not identified",
    owns: ["claims.", "userinfo."],
    timings: [],
  },
  {
    leg: 1,
    title: "The storefront received a code",
    failed: "Person refused",
    owns: ["email_", "several_matches", "provisioning_", "member_"],
    timings: ["write"],
  },
  {
    leg: 1,
    title: "The storefront exchanged the code for a customer token",
    failed: "Code exchange by the storefront failed",
    owns: ["redirect_uri_mismatch", "verifier_", "client_mismatch", "code_", "session_ended"],
    timings: [],
  },
];

/** A test begins at the console instead of a storefront, and ends before a code is issued. */
const TEST_PLAN: readonly Plan[] = [
  { leg: 1, title: "The test started here", failed: "The test did not start", owns: [], timings: [] },
  { ...(PLAN[1] as Plan), title: "You went to the provider and came back" },
  ...PLAN.slice(2, 5),
  {
    leg: 1,
    title: "This person could sign in",
    failed: "This person would be refused",
    owns: PLAN[5]?.owns ?? [],
    timings: [],
  },
];

/** A member begins at the console, which gets an access token at the end. */
const OF_MEMBER: Record<number, Partial<Plan>> = {
  0: { title: "The console sent the member here", failed: "Request of the console refused" },
  1: { title: "The member went to the provider and came back" },
  5: { title: "The console received a code" },
  6: {
    title: "The console exchanged the code for an access token",
    failed: "Code exchange by the console failed",
  },
};
const MEMBER_PLAN = PLAN.map((step, at) => ({ ...step, ...OF_MEMBER[at] }));

/** A refused logout token is no sign-on, so it has its own single step. */
const LOGOUT_PLAN: readonly Plan[] = [
  {
    leg: 2,
    title: "Logout token of the provider checked",
    failed: "Logout token check failed",
    owns: ["logout_token."],
    timings: [],
  },
];

type Ended = Pick<SignOn, "outcome" | "reason" | "checks" | "test">;

export function timelineOf(signOn: Ended & Pick<SignOn, "timings">, isOfMember = false): Step[] {
  const plan = planOf(signOn, isOfMember);
  const reached = reachedBy(plan, signOn);
  return plan.map(({ leg, title, failed, owns, timings }, at) => {
    const taken = timings.map((name) => signOn.timings[name]).filter((ms) => ms !== undefined);
    const status = at < reached.step ? "done" : at > reached.step ? "unreached" : reached.status;
    return {
      leg,
      title: status === "failed" ? failed : title,
      status,
      ms: status === "unreached" ? undefined : taken.reduce((a, b) => a + b, 0) || undefined,
      checks: signOn.checks.filter(({ check }) => owns.some((prefix) => check.startsWith(prefix))),
    };
  });
}

function planOf({ outcome, test }: Ended, isOfMember: boolean): readonly Plan[] {
  if (outcome === "logout_refused") return LOGOUT_PLAN;
  if (test) return TEST_PLAN;
  return isOfMember ? MEMBER_PLAN : PLAN;
}

type Reached = { step: number; status: Step["status"] };

function reachedBy(plan: readonly Plan[], { outcome, reason, checks }: Ended): Reached {
  const last = plan.length - 1;
  if (outcome === "exchanged" || outcome === "tested") return { step: last, status: "done" };
  if (outcome === "code_issued") return { step: last, status: "unreached" };
  if (outcome === "expired") return { step: last, status: "failed" };
  const named = plan.findIndex(({ owns }) => owns.some((prefix) => reason?.startsWith(prefix)));
  if (named >= 0) return { step: named, status: "failed" };
  // No step owns the reason: the last step with checks is where the sign-on ended.
  const checked = plan.findLastIndex(({ owns }) =>
    checks.some(({ check }) => owns.some((prefix) => check.startsWith(prefix))),
  );
  return { step: Math.max(0, checked), status: "failed" };
}

/** The party that can correct the failure. `none`: there is no failure. */
type Actor = "provider" | "storefront" | "store" | "shopper" | "operator" | "none";

const STOREFRONT =
  /^(parameter_|state_|hint_|response_type|scope_|challenge_|nonce_|max_age_|request_|registration_|profile_(unknown|direct|unchosen)|redirect_uri_mismatch|code_|verifier_|client_|sign_on_client_|id_token\.auth_time$)/;
const STORE =
  /^(profile_(none|disabled)|redirect_uri_unregistered|token\.client_refused|email_|provisioning_|several_matches|member_(unknown|bound))/;
const SHOPPER = /^(callback_replay|source_busy|attempt_|browser_|session_ended|person_erased)/;
/** The shopper cancelled at the provider, or the provider needs a page that `prompt=none` forbids. */
const SHOPPERS = /^(access_denied|(login|interaction|consent|account_selection)_required)$/;
const OPERATOR = /^(storage_unavailable|internal_error)/;

/** `error`: the provider's own error, if the provider ended the sign-on. */
type Judged = Pick<SignOn, "outcome" | "reason"> & Partial<Pick<SignOn, "error">>;

export function whoCanFix({ outcome, reason, error }: Judged): Actor {
  if (outcome === "exchanged" || outcome === "code_issued" || outcome === "tested") return "none";
  if (outcome === "expired" || reason === null) return "storefront";
  if (reason === "idp_error" && SHOPPERS.test(error ?? "")) return "shopper";
  if (STOREFRONT.test(reason)) return "storefront";
  if (STORE.test(reason)) return "store";
  if (SHOPPER.test(reason)) return "shopper";
  if (OPERATOR.test(reason)) return "operator";
  return "provider";
}

const ACTORS: Record<Actor, string> = {
  provider: "The identity provider’s administrator",
  storefront: "The developers of the storefront",
  store: "An administrator of the store, in this console",
  shopper: "The shopper, by signing in again",
  operator: "The operator of this service",
  none: "Nothing to fix",
};

/** A member's storefront is the console, which the store cannot change: the remedy is another sign-in. */
export function actorInWords(judged: Judged, isOfMember: boolean): string {
  const actor = whoCanFix(judged);
  const isMembers = isOfMember && (actor === "storefront" || actor === "shopper");
  return isMembers ? "The member, by signing in again" : ACTORS[actor];
}
