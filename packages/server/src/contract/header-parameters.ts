import type { Operation } from "./operation.ts";

/** The request headers that an operation reads, for the OpenAPI document. */
export const headerParameters = (operation: Operation): object[] => [
  ...(operation.idempotent ? [IDEMPOTENCY_KEY] : []),
  ...(operation.conditional ? [IF_MATCH] : []),
  ...(operation.resumable ? [LAST_EVENT_ID] : []),
  ...(operation.success.statusOnRequest ? [answerOf(operation.success)] : []),
];

const answerOf = ({ status, statusOnRequest }: Operation["success"]) => ({
  name: "X-Latchkey-Answer",
  in: "header",
  required: false,
  description: `Says yes with ${statusOnRequest} instead of ${status}, for a gateway that takes no other. Any other value makes no difference`,
  schema: { type: "string", enum: [String(statusOnRequest)] },
});

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Of your choice, new for each thing to be done: 1 to 255 visible ASCII characters",
  schema: { type: "string", pattern: "^[!-~]{1,255}$" },
};

const IF_MATCH = {
  name: "If-Match",
  in: "header",
  required: false,
  description: "The `ETag` of the answer that the change is based on; 409 when it is outdated",
  schema: { type: "string" },
};

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "The id of the last message that was heard; goes before `after`. An empty one is none",
  schema: { type: "string", pattern: "^\\d{0,15}$" },
};
