import { limits } from "../contract/limits.ts";
import type { Egress } from "../egress/egress.ts";
import { isEgressFault } from "../egress/egress-message.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import type { IntegrationRow } from "./integration.ts";
import type { Message } from "./message.ts";
import { readRetryAfter } from "./schedule.ts";
import { openSecretKey, openSigningSecrets } from "./secret.ts";
import { signatureHeaders } from "./signature.ts";

export type AttemptDeps = { webhookEgress: Egress; clock: Clock; keyring: Keyring };

/** One attempt as it is kept. `reason`: why it did not count as delivered; null: it did. */
export type Attempt = {
  at: number;
  status: number | null;
  reason: string | null;
  milliseconds: number;
  answer: string | null;
};

/** `url`: where it was sent to. By the time of the answer the integration may have another address. */
export type Attempted = { attempt: Attempt; url: string; retryAfterMs: number | undefined };

/** The receiver says that it is gone for good, and wants to hear nothing any more. */
export const GONE = 410;

/** Sends a message once, through the guard. Never throws for what the receiver does. */
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
  const end = (status: number | null, reason: string | null, answer: string | null): Attempt => ({
    at,
    status,
    reason,
    milliseconds: Math.round(clock.monotonicMs() - startedMs),
    answer,
  });
  try {
    const {
      status,
      headers: answered,
      body,
    } = await webhookEgress.send({
      url,
      method: "POST",
      storeId: integration.store_id,
      headers,
      body: message.body,
      maxBytes: limits.webhookAnswerBytes,
      cutsAnswer: true,
      keptFor: integration.id,
    });
    const isDelivered = status >= 200 && status < 300;
    return {
      url,
      attempt: end(status, isDelivered ? null : "status", beginningOf(body, secretKey)),
      retryAfterMs: isDelivered ? undefined : readRetryAfter(answered["retry-after"], at),
    };
  } catch (error) {
    if (!isEgressFault(error)) throw error;
    return { url, attempt: end(null, error.reason, null), retryAfterMs: undefined };
  }
}

/** A shorter one guards nothing, and may be a word of the answer. */
const LEAST_SECRET_LENGTH = 8;

/**
 * As text, whatever it is; PostgreSQL cannot keep NUL. Some receivers say back what they were sent, and whoever may read the answer
 * need not be an administrator, who alone is shown the secret key.
 */
function beginningOf(body: Buffer, secretKey: string | null): string {
  const text = body.toString("utf8").toWellFormed().replaceAll("\0", "\uFFFD");
  const isTold = secretKey !== null && secretKey.length >= LEAST_SECRET_LENGTH;
  const shown = isTold ? text.replaceAll(secretKey, "(left out)") : text;
  return Buffer.from(shown).subarray(0, limits.webhookAnswerKeptBytes).toString("utf8");
}
