import { createHmac, randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Storefront, startStorefront } from "../src/storefront/start.ts";

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
let shop: Storefront;
beforeEach(async () => {
  shop = await startStorefront({ apiUrl: "http://keys.example", clientId: "lkid_practice" });
  shop.setWebhookSecret(SECRET);
});
afterEach(() => shop.close());

function post(body: string, id = "msg_1", secret = SECRET): Promise<Response> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hmac = createHmac("sha256", Buffer.from(secret.slice(6), "base64"));
  const signature = hmac.update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
  return fetch(shop.hooksUrl, { method: "POST", headers, body });
}

/** Collects the page's messages until there are `count` of them. */
async function watch(
  count: number,
): Promise<{ id: string; body?: string; refused?: string; again: boolean }[]> {
  const leave = new AbortController();
  const { body } = await fetch(`${shop.origin}/webhooks/live`, { signal: leave.signal });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if ([...text.matchAll(/^data: .*\n\n/gm)].length >= count) break;
  }
  leave.abort();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
}

test("204 for a correctly signed message; the page shows it, and marks a repeated message", async () => {
  const body = JSON.stringify({ id: "msg_1", type: "customer.created" });
  expect((await post(body)).status).toBe(204);
  const watching = watch(2);
  expect((await post(body)).status).toBe(204);
  expect(await watching).toMatchObject([
    { id: "msg_1", body, again: false },
    { id: "msg_1", body, again: true },
  ]);
});

test("400 for a message with a wrong signature, which is shown without its content", async () => {
  expect((await post("{}", "msg_2", `whsec_${randomBytes(32).toString("base64")}`)).status).toBe(400);
  expect((await fetch(shop.hooksUrl, { method: "POST", body: "{}" })).status).toBe(400);
  const [wrong, unsigned] = await watch(2);
  expect(wrong).toMatchObject({ id: "msg_2", refused: "webhook_signature_wrong" });
  expect(wrong).not.toHaveProperty("body");
  expect(unsigned).toMatchObject({ refused: "webhook_unsigned" });
});

test("413 for a body that is too long; the last 50 messages are kept", async () => {
  expect((await post("x".repeat(70_000))).status).toBe(413);
  for (let number = 0; number < 55; number++) await post("{}", `msg_${number}`);
  const shown = await watch(50);
  expect(shown).toHaveLength(50);
  expect(shown[0]?.id).toBe("msg_5");
});
