import type { DeliveryAttempt, IntegrationDelivery } from "@latchkey/sdk/admin";
import type { Tone } from "../parts/text/pill.tsx";

export const STATUS_WORDS: Record<IntegrationDelivery["status"], { tone: Tone; word: string }> = {
  waiting: { tone: "warn", word: "Waiting" },
  delivered: { tone: "good", word: "Delivered" },
  failed: { tone: "bad", word: "Failed" },
};

const GIVEN_UP: Record<NonNullable<IntegrationDelivery["reason"]>, string> = {
  attempts_exceeded: "Given up after ten attempts.",
  gone: "Given up: the receiver answered 410 (gone).",
  event_forgotten: "Given up: the event was deleted from the log, so there is nothing to send.",
};

/** Why there is no further attempt; undefined if there is one, or if the message was delivered. */
export function whyNoMore(
  { status, reason }: Pick<IntegrationDelivery, "status" | "reason">,
  isEnabled: boolean,
): string | undefined {
  if (reason !== null) return GIVEN_UP[reason];
  return status === "waiting" && !isEnabled ? "Waits until the integration is enabled." : undefined;
}

/** "200", "no answer"; empty before the first attempt. */
export const lastAnswer = (attempt: Pick<DeliveryAttempt, "status"> | undefined): string =>
  attempt === undefined ? "" : attempt.status === null ? "no answer" : String(attempt.status);
