import type { Gate, GateRequest, GateResult } from "../contract/gate.ts";
import type { Operation } from "../contract/operation.ts";
import { isBackOffice, isPermitted } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import { mayActAs, type Role } from "../contract/roles.ts";
import { findSignedIn, rememberSignedIn } from "../customers/tokens/verify-token.ts";
import { networkOf } from "../lib/source-address.ts";
import { ANONYMOUS, type Cap } from "../rate-limit/cap.ts";
import type { LastUsed } from "../rate-limit/last-used.ts";
import type { Left, Limiter, LimiterDecision } from "../rate-limit/limiter.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { type AuthenticateDeps, authenticate, type Principal } from "./authenticate.ts";
import { roleInsufficient } from "./role-insufficient.ts";

type Deps = AuthenticateDeps & {
  publicUrl: string;
  signingKeys: SigningKeys;
  limiter: Limiter;
  anonymous: Cap;
  lastUsed: LastUsed;
  random: () => number;
};

/** Operations on these resources can take from the part of the limit that is kept for administration. */
const ADMINISTRATION = new Set(["application_keys", "store", "customer_tokens"]);

/**
 * Authenticates (401), checks permission and role (403), then takes from the store's limit (429). A request that fails
 * one of the first two takes from the limit of its source address instead.
 */
export function createGate(deps: Deps): Gate {
  const findRemembered = rememberSignedIn();
  return {
    check: (operation, request) => check(deps, findRemembered, operation, request),
    limitSource: (source) => limitSource(deps, source),
  };
}

async function check(
  deps: Deps,
  findRemembered: typeof findSignedIn,
  operation: Operation,
  { authorization, customerToken, source, requestId }: GateRequest,
): Promise<GateResult> {
  const principal = await authenticate(deps, authorization).catch(async (error) => {
    if (error instanceof Problem) await limitSource(deps, source);
    throw error;
  });
  const { storeId, holder } = principal;
  const caller = { ...principal, requestId };
  const roleNow = () => readRole(deps, authorization);
  const draw = {
    storeId,
    keyId: holder.id,
    source: isBackOffice(principal) ? undefined : networkOf(source),
    allowance: principal.allowance,
    administration: isAdministration(operation, principal),
  };
  const token = isForCustomers(operation, principal) ? customerToken : undefined;
  // The gateway check reads its remembered token before the limit, so an expired one takes nothing from the limit.
  // Other operations read the database for the token, so they check it after the limit.
  const isFirst = token !== undefined && isGateway(operation);
  const remembered = isFirst ? await findRemembered(deps, storeId, token) : undefined;
  const forbidden =
    forbid(operation, principal, token !== undefined) ??
    (isFirst && !remembered ? new Problem("customer_token_invalid") : undefined);
  // A 403 takes nothing from the store's limit: an implicit token is public, and could use the limit up.
  if (forbidden) {
    await limitSource(deps, source);
    const headers = rateLimitHeaders(await deps.limiter.look(draw));
    return { caller, headers, roleNow, refusal: forbidden };
  }
  const decision = await deps.limiter.take(draw);
  const headers = rateLimitHeaders(decision, decision.retryAfterSeconds);
  if (!decision.allowed) return { caller, headers, roleNow, refusal: refusalOf(decision, deps.random) };
  if (holder.type === "application_key") deps.lastUsed.noteKey(storeId, holder.id);
  if (token === undefined) return { caller, headers, roleNow };
  const customer = remembered ?? (await findSignedIn(deps, storeId, token));
  if (!customer) return { caller, headers, roleNow, refusal: new Problem("customer_token_invalid") };
  return { caller: { ...caller, customer }, headers, roleNow };
}

async function limitSource({ anonymous, random }: Deps, source: string): Promise<void> {
  const wait = await anonymous.take(source);
  if (wait === undefined) return;
  const retryAfterSeconds = jittered(wait, random);
  throw new Problem("rate_limit_exceeded", {
    detail: "This address sends too many requests without a valid access token.",
    meta: { bucket: "source", rate_limit: ANONYMOUS.rate },
    retryAfterSeconds,
    headers: {
      "RateLimit-Policy": `"source";q=${ANONYMOUS.rate};w=1`,
      RateLimit: `"source";r=0;t=${retryAfterSeconds}`,
    },
  });
}

/** Only a Problem means an invalid token. Any other error leaves the role unknown, and an open stream waits. */
async function readRole(
  deps: Deps,
  authorization: string | undefined,
): Promise<Role | null | "ended" | "unknown"> {
  try {
    return (await authenticate(deps, authorization)).role;
  } catch (error) {
    return error instanceof Problem ? "ended" : "unknown";
  }
}

/** A customer token adds the customer's permissions. Whether the token is valid is checked elsewhere in `check`. */
function forbid(operation: Operation, { grant, role }: Principal, isCustomer: boolean): Problem | undefined {
  const { access } = operation;
  const isAllowed =
    typeof access !== "string" &&
    (isPermitted(grant, access) || (isCustomer && isPermitted("customer", access)));
  if (!isAllowed) return new Problem("not_permitted");
  if (grant === "implicit" || mayActAs(role, operation.role)) return undefined;
  return roleInsufficient(role, operation.role);
}

/**
 * Only operations on a customer's own resources read the customer token; other operations ignore even an expired one.
 * Programs and members of the store act under their own name, so their requests ignore it too. The gateway check reads
 * it beside a program's token: it changes nothing, and the service behind the gateway needs the customer's id.
 */
const isForCustomers = (operation: Operation, principal: Principal): boolean =>
  isGateway(operation)
    ? principal.grant !== "member"
    : operation.access[1] === "own" && !isBackOffice(principal);

const isGateway = ({ access }: Operation): boolean => access[0] === "gateway";

const isAdministration = (operation: Operation, principal: Principal): boolean =>
  isBackOffice(principal) && ADMINISTRATION.has(operation.access[0] as string);

/** draft-ietf-httpapi-ratelimit-headers-11, structured fields. A key without reservation has only the shared bucket. */
function rateLimitHeaders({ reserved, shared }: Left, retryAfterSeconds = 0): Record<string, string> {
  const resetSeconds = Math.max(1, retryAfterSeconds);
  const policy = `"shared";q=${shared.quota};w=1`;
  const state = `"shared";r=${shared.left};t=${resetSeconds}`;
  if (reserved.quota === 0) return { "RateLimit-Policy": policy, RateLimit: state };
  return {
    "RateLimit-Policy": `"reserved";q=${reserved.quota};w=1, ${policy}`,
    RateLimit: `"reserved";r=${reserved.left};t=${resetSeconds}, ${state}`,
  };
}

function refusalOf(
  { bucket, reserved, shared, asked, retryAfterSeconds }: LimiterDecision,
  random: () => number,
): Problem {
  const wait = jittered(retryAfterSeconds, random);
  const own =
    reserved.quota > 0
      ? `This key has used the ${reserved.quota} requests per second that are reserved for it, and the`
      : "This key has no reservation, and the";
  const rest =
    shared.quota > 0
      ? `${shared.quota} requests per second that the store's keys share are used up`
      : "store's keys share nothing: all of its limit is reserved";
  return new Problem("rate_limit_exceeded", {
    detail: `${own} ${rest}.`,
    meta: {
      bucket,
      reserved: reserved.quota,
      shared: shared.quota,
      used: asked,
      free: reserved.left + shared.left,
      retry_after_seconds: wait,
    },
    retryAfterSeconds: wait,
  });
}

/**
 * Adds a second at random for half of the refused requests, so that not all of them are repeated in the same second.
 */
const jittered = (seconds: number, random: () => number): number => seconds + Math.floor(random() * 2);
