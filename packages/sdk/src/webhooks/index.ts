export { ApiError } from "../api-error.ts";
export { parseWebhook } from "./parse.ts";
export type { EventType, WebhookEvent } from "./types.ts";
export { type Verified, type VerifyOptions, verifyWebhook, type WebhookHeaders } from "./verify.ts";
