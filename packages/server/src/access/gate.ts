import type { Gate, Knock, Passage } from "../contract/gate.ts";
import type { Operation } from "../contract/operation.ts";
import { isBackOffice, isPermitted } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import { mayActAs } from "../contract/roles.ts";
import { findSignedIn, rememberSignedIn } from "../customers/tokens/verify-token.ts";
import { networkOf } from "../lib/source-address.ts";
import { ANONYMOUS, type Cap } from "../rate-limit/cap.ts";
import type { LastUsed } from "../rate-limit/last-used.ts";
import type { Decision, Left, Limiter } from "../rate-limit/limiter.ts";
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

const ADMINISTRATION = new Set(["application_keys", "store", "customer_tokens"]);

/**
 * Authenticates (401), checks permission and role (403), then takes from the store's limit (429). A request that fails one of
 * the first two takes from the limit of its source address instead.
 */
export function createGate(deps: Deps): Gate {
  const findRemembered = rememberSignedIn();

  async function enterAnonymous(source: string): Promise<void> {
    const wait = await deps.anonymous.take(source);
    if (wait === undefined) return;
    const retryAfterSeconds = jittered(wait, deps.random);
    throw new Problem("rate_limit_exceeded", {
      detail: "This address sends too many requests without a good access token.",
      meta: { bucket: "source", rate_limit: ANONYMOUS.rate },
      retryAfterSeconds,
      headers: {
        "RateLimit-Policy": `"source";q=${ANONYMOUS.rate};w=1`,
        RateLimit: `"source";r=0;t=${retryAfterSeconds}`,
      },
    });
  }

  async function enter(
    operation: Operation,
    { authorization, customerToken, source, requestId }: Knock,
  ): Promise<Passage> {
    const principal = await authenticate(deps, authorization).catch(async (error) => {
      if (error instanceof Problem) await enterAnonymous(source);
      throw error;
    });
    const caller = { ...principal, requestId };
    // Only a Problem means a bad token. While the database does not answer, the role is unknown and the stream waits.
    const roleNow = () =>
      authenticate(deps, authorization).then(
        ({ role }) => role,
        (error) => (error instanceof Problem ? ("ended" as const) : ("unknown" as const)),
      );
    const draw = {
      storeId: principal.storeId,
      keyId: principal.holder.id,
      source: isBackOffice(principal) ? undefined : networkOf(source),
      allowance: principal.allowance,
      administration: isAdministration(operation, principal),
    };
    const brought = isForCustomers(operation, principal) ? customerToken : undefined;
    // A gateway's customer token is remembered, so it need not wait for the limit, and a shopper's that has expired takes nothing from it.
    const remembered =
      brought !== undefined && isGateway(operation)
        ? await findRemembered(deps, principal.storeId, brought)
        : "not asked";
    const forbidden =
      forbid(operation, principal, brought !== undefined) ??
      (remembered === undefined ? new Problem("customer_token_invalid") : undefined);
    // A 403 takes nothing from the store's limit: anybody can have an implicit token, and could use the limit up.
    if (forbidden) {
      await enterAnonymous(source);
      const headers = rateLimitHeaders(await deps.limiter.look(draw));
      return { caller, headers, roleNow, refusal: forbidden };
    }
    const decision = await deps.limiter.take(draw);
    const headers = rateLimitHeaders(decision, decision.retryAfterSeconds);
    if (!decision.allowed) return { caller, headers, roleNow, refusal: refusalOf(decision, deps.random) };
    if (principal.holder.type === "application_key")
      deps.lastUsed.noteKey(principal.storeId, principal.holder.id);
    if (brought === undefined) return { caller, headers, roleNow };
    const customer =
      remembered === "not asked" ? await findSignedIn(deps, principal.storeId, brought) : remembered;
    if (!customer) return { caller, headers, roleNow, refusal: new Problem("customer_token_invalid") };
    return { caller: { ...caller, customer }, headers, roleNow };
  }

  return { enter, enterAnonymous };
}

/** A customer token adds the customer's permissions. At our own routes it is checked after the rate limit, because that reads the database. */
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
 * Only operations on a customer's own resources read the customer token; elsewhere an expired one is ignored. The store's own programs
 * and people act under their own name, so beside their tokens a customer token counts nowhere. The gateway check alone reads it beside a
 * program's: it changes nothing, and the service behind the gateway asks whose request it is.
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
  { bucket, reserved, shared, asked, retryAfterSeconds }: Decision,
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

/** A second more for half of those who were refused, so that they do not all come back at once. */
const jittered = (seconds: number, random: () => number): number => seconds + Math.floor(random() * 2);
