import type { Operation } from "./operation.ts";

/** The request headers that an operation reads, for the OpenAPI document. */
export const headerParameters = (operation: Operation): object[] => [
  ...(operation.idempotent ? [IDEMPOTENCY_KEY] : []),
  ...(operation.conditional ? [IF_MATCH] : []),
  ...(operation.resumable ? [LAST_EVENT_ID] : []),
  ...(operation.success.statusOnRequest ? [answerOf(operation.success)] : []),
];

const header = (name: string, description: string, form: object = {}) => ({
  name,
  in: "header",
  required: false,
  description,
  schema: { type: "string", ...form },
});

const answerOf = ({ status, statusOnRequest }: Operation["success"]) =>
  header(
    "X-Latchkey-Answer",
    `The status of a yes is then ${statusOnRequest} instead of ${status}, for a gateway that accepts no other. Other values are ignored`,
    { enum: [String(statusOnRequest)] },
  );

const IDEMPOTENCY_KEY = header(
  "Idempotency-Key",
  "A value that you choose, new for each action: 1 to 255 visible ASCII characters",
  { pattern: "^[!-~]{1,255}$" },
);

const IF_MATCH = header(
  "If-Match",
  "The `ETag` of the answer that the change is based on; 409 if it is outdated",
);

const LAST_EVENT_ID = header(
  "Last-Event-ID",
  "The id of the last received message; overrides `after`. Empty: ignored",
  { pattern: "^\\d{0,15}$" },
);
