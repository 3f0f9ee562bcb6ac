import { limits } from "../contract/limits.ts";
import type { Egress } from "../egress/egress.ts";
import { isEgressFault } from "../egress/egress-message.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import type { IntegrationRow } from "./integration.ts";
import type { Message } from "./message.ts";
import { readRetryAfter } from "./retry-schedule.ts";
import { openSecretKey, openSigningSecrets } from "./secret.ts";
import { signatureHeaders } from "./signature.ts";

export type AttemptDeps = { webhookEgress: Egress; clock: Clock; keyring: Keyring };

/** One stored attempt. `reason` says why it did not deliver; null means that it did. */
export type DeliveryAttempt = {
  at: number;
  status: number | null;
  reason: string | null;
  milliseconds: number;
  answer: string | null;
};

/** `url` is the address of this attempt; the integration may have another one when the answer arrives. */
export type Attempted = { attempt: DeliveryAttempt; url: string; retryAfterMs: number | undefined };

/** 410 Gone: the receiver wants no further messages. */
export const GONE = 410;

/** Sends a message once, through the egress guard. Does not throw for anything that the receiver does. */
export async function attemptOnce(
  { webhookEgress, clock, keyring }: AttemptDeps,
  integration: IntegrationRow,
  message: Message,
): Promise<Attempted> {
  const { url } = integration;
  const at = clock.now();
  const startedMs = clock.monotonicMs();
  const secretKey = openSecretKey({ keyring }, integration);
  const headers = {
    "Content-Type": message.mediaType,
    ...signatureHeaders({ ...message, at }, openSigningSecrets({ keyring }, integration, at)),
    ...(secretKey !== null && { "X-Moltin-Secret-Key": secretKey }),
  };
  const end = (status: number | null, reason: string | null, answer: string | null): DeliveryAttempt => ({
    at,
    status,
    reason,
    milliseconds: Math.round(clock.monotonicMs() - startedMs),
    answer,
  });
  try {
    const answer = await webhookEgress.send({
      url,
      method: "POST",
      storeId: integration.store_id,
      headers,
      body: message.body,
      maxBytes: limits.webhookAnswerBytes,
      cutsAnswer: true,
      keptFor: integration.id,
    });
    const { status } = answer;
    const isDelivered = status >= 200 && status < 300;
    return {
      url,
      attempt: end(status, isDelivered ? null : "status", beginningOf(answer.body, secretKey)),
      retryAfterMs: isDelivered ? undefined : readRetryAfter(answer.headers["retry-after"], at),
    };
  } catch (error) {
    if (!isEgressFault(error)) throw error;
    return { url, attempt: end(null, error.reason, null), retryAfterMs: undefined };
  }
}

/** Shorter secret keys are not removed from answers, because they may be ordinary words. */
const LEAST_SECRET_LENGTH = 8;

/**
 * The answer as text, without NUL, which PostgreSQL cannot store. Some receivers echo the request, and only
 * administrators may see the secret key, so the key is removed.
 */
function beginningOf(body: Buffer, secretKey: string | null): string {
  const text = body.toString("utf8").toWellFormed().replaceAll("\0", "\uFFFD");
  const isTold = secretKey !== null && secretKey.length >= LEAST_SECRET_LENGTH;
  const shown = isTold ? text.replaceAll(secretKey, "(left out)") : text;
  return Buffer.from(shown).subarray(0, limits.webhookAnswerKeptBytes).toString("utf8");
}
