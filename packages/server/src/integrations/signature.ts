import { createHmac } from "node:crypto";

/**
 * Standard Webhooks, symmetric (v1): HMAC-SHA256 over `id.timestamp.body` with the bytes after `whsec_`. One header has
 * several signatures, separated by spaces, and a receiver accepts any of them.
 */
export function signatureHeaders(
  message: { id: string; at: number; body: string },
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(message.at / 1000));
  const signed = `${message.id}.${timestamp}.${message.body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  });
  return {
    "webhook-id": message.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
