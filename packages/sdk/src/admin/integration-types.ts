import type { Timestamps } from "./types.ts";

/** Webhooks, as they come over the wire. */

type AttemptOutcome = {
  /** Of the answer; null: there was none. */
  status: number | null;
  /** Why it did not count as delivered, in a word: `status`, `too_slow`, `connect_failed`, … */
  reason: string | null;
};

export type Integration = {
  id: string;
  type: "integration";
  name: string;
  description: string;
  enabled: boolean;
  integration_type: "webhook";
  /** Types of events, and patterns such as `customer.*`. */
  observes: string[];
  /** `secret_key` and the path of `url` are for administrators. */
  configuration: { url: string; secret_key: string | null; format: "cloudevents" | "integration" };
  meta: {
    timestamps: Timestamps;
    status: "healthy" | "failing" | "disabled";
    failing_since: string | null;
    disabled_reason: "gone" | "failing" | "restored" | null;
    last_delivery: ({ at: string; delivered: boolean } & AttemptOutcome) | null;
    previous_secret_until: string | null;
    /** What is left of a replay. */
    replay: { after: string; before: string } | null;
  };
};
/** The secret that messages are signed with is shown when it is made, and never again. */
export type IntegrationWithSecret = Integration & { signing_secret: string };
export type NewIntegration = {
  name: string;
  description?: string | null | undefined;
  enabled?: boolean | undefined;
  integration_type: string;
  observes: string[];
  configuration: {
    url: string;
    secret_key?: string | null | undefined;
    format?: "cloudevents" | "integration" | undefined;
  };
};
export type IntegrationChange = {
  name?: string | undefined;
  description?: string | null | undefined;
  enabled?: boolean | undefined;
  integration_type?: string | undefined;
  observes?: string[] | undefined;
  configuration?:
    | {
        url?: string | undefined;
        secret_key?: string | null | undefined;
        format?: "cloudevents" | "integration" | undefined;
      }
    | undefined;
};

export type DeliveryAttempt = AttemptOutcome & {
  at: string;
  milliseconds: number;
  /** The first kilobyte; null where there was none, or where it was erased with a person. */
  /** For administrators; null for other roles. */
  answer: string | null;
};

export type IntegrationDelivery = {
  id: string;
  type: "integration-delivery";
  status: "waiting" | "delivered" | "failed";
  reason: "attempts_exceeded" | "gone" | "event_forgotten" | null;
  event: { id: string; type: string; subject: string; sequence: string };
  attempts: DeliveryAttempt[];
  next_attempt_at: string | null;
  meta: { timestamps: Timestamps };
};

export type IntegrationTest = {
  type: "integration-test";
  id: string;
  delivered: boolean;
  attempt: DeliveryAttempt;
};
