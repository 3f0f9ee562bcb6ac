/** A request that egress.ts sends, its answer, and the reason for no answer. */
export type EgressRequest = {
  url: string;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
  maxBytes: number;
  /** The beginning of a longer answer is enough: the rest is not read. Without it, a longer answer is a fault. */
  cutsAnswer?: true;
  /** The store that the request is for: an origin may be allowed for one store alone. */
  storeId?: string;
  /** The owner of kept connections, usually a profile. Without it the connection is used once. */
  keptFor?: string;
};

export type IdpRequestKind = "discovery" | "keys" | "token" | "userinfo";
export type IdpRequest = EgressRequest & { kind: IdpRequestKind };

export type EgressAnswer = {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  elapsedMs: number;
};

/** Why a request was not made or not finished. Contains nothing that the other side has sent. */
export type EgressReason =
  | "resting"
  | "address_not_allowed"
  | "host_unknown"
  | "host_not_public"
  | "connect_failed"
  | "tls_name"
  | "tls_unknown_authority"
  | "tls_expired"
  | "tls_failed"
  | "too_slow"
  | "too_large"
  | "answer_broken"
  | "answer_encoded";

/** `wasSent`: there was a connection, and the other side may have read the request. */
type EgressFault = Error & { reason: EgressReason; wasSent: boolean };

export function egressFault(reason: EgressReason, cause?: unknown): EgressFault {
  const error = new Error(`egress: ${reason}`, { cause });
  return Object.assign(error, { name: "EgressFault", reason, wasSent: false });
}

export const isEgressFault = (error: unknown): error is EgressFault =>
  error instanceof Error && error.name === "EgressFault";
