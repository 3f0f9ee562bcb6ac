import type { BrowserAnswer } from "../contract/browser.ts";
import { Problem } from "../contract/problem.ts";
import { errorUrl, type ProblemCode } from "../contract/problems.ts";
import { type SignOnReason, signOnReasonEntry, signOnReasons } from "../contract/sign-on-reasons.ts";
import { withParameters } from "../lib/query-parameters.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import { isRecorded, type Trail } from "../sign-on-records/trail.ts";
import { isUnavailable } from "../storage/failures.ts";

/**
 * A failed sign-on ends on a page (`refuseWithPage`) until client and redirect URI are trusted. Afterwards every
 * failure inside `redirectProblemsTo` becomes a redirect to the storefront.
 */

/** `error`: the identity provider's own error code, if storefronts know it. */
export const signOnProblem = (
  reason: SignOnReason,
  more: { error?: string; reference?: string } = {},
): Problem =>
  new Problem("sign_on_refused", { detail: signOnReasonEntry(reason).means, meta: { reason, ...more } });

export function reasonOf(error: unknown): SignOnReason {
  const reason = error instanceof Problem ? error.faults[0].meta?.reason : undefined;
  if (typeof reason === "string" && Object.hasOwn(signOnReasons, reason)) return reason as SignOnReason;
  return isUnavailable(error) ? "storage_unavailable" : "internal_error";
}

type NoteDeps = { recorder: Recorder; recordLimiter: RecordLimiter };

/** True if the failure gets a record, by its limits. A second callback has the record of the first one. */
export async function noteFailure(
  deps: NoteDeps,
  trail: Trail,
  reason: SignOnReason | ProblemCode,
  error: string | null = null,
): Promise<boolean> {
  deps.recorder.count("failed", reason);
  const isNoted = reason !== "callback_replay" && (await isRecorded(deps, trail));
  if (isNoted) deps.recorder.note(trail, { outcome: "failed", reason, error });
  return isNoted;
}

type ClientRedirect = { clientRedirectUri: string; clientState: string | undefined };

export const redirectToClient = (
  deps: { publicUrl: string },
  { storeId, realmId }: { storeId: string; realmId: string },
  { clientRedirectUri, clientState }: ClientRedirect,
  parameters: Record<string, string>,
): string =>
  withParameters(clientRedirectUri, {
    ...parameters,
    state: clientState,
    iss: issuerOf(deps, storeId, realmId),
  });

export async function redirectProblemsTo(
  deps: NoteDeps & { publicUrl: string },
  client: ClientRedirect,
  trail: Trail,
  work: () => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  try {
    return await work();
  } catch (cause) {
    const reason = reasonOf(cause);
    const entry = signOnReasonEntry(reason);
    const meta = cause instanceof Problem ? cause.faults[0].meta : undefined;
    const error = typeof meta?.error === "string" ? meta.error : entry.error;
    const reference = referenceOf(trail.id);
    const isNoted = await noteFailure(deps, trail, reason, error);
    const location = redirectToClient(deps, trail, client, {
      error,
      error_description: entry.means,
      error_uri: errorUrl(deps.publicUrl, reason),
      reason,
      // A reference is sent only if it has a record.
      ...((isNoted || meta?.reference !== undefined) && { reference }),
    });
    return { location, failure: { reference, reason, ...(cause instanceof Problem ? {} : { cause }) } };
  }
}

/** Refusals of a callback that cannot be redirected to the storefront. */
export type PageCode = "attempt_expired" | "browser_changed" | "redirect_uri_unregistered";

/** The page shows the reference of the record, if there is a record. */
export async function refuseWithPage(deps: NoteDeps, trail: Trail, problem: Problem): Promise<never> {
  const { code } = problem;
  throw new Problem(code, {
    ...((await noteFailure(deps, trail, code)) && { meta: { reference: referenceOf(trail.id) } }),
    cause: problem.cause,
  });
}
