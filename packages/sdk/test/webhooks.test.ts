import { createHmac, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseWebhook, verifyWebhook } from "../src/webhooks/index.ts";
import { errorOf } from "./support/shop.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const now = () => NOW;
const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString("base64")}`;
const SECRET = secretOf(randomBytes(32));

/** Signs as the standard says, with Node's HMAC, not with the code under test. */
function sign(body: string | Uint8Array, secret: string, { id = "msg_1", at = NOW } = {}) {
  const timestamp = String(Math.floor(at / 1000));
  const hmac = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"));
  hmac.update(`${id}.${timestamp}.`).update(body);
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${hmac.digest("base64")}`,
  };
}

const signatureOf = (body: string) => sign(body, SECRET)["webhook-signature"].slice("v1,".length);

describe("verifyWebhook", () => {
  test("accepts every message signed as Standard Webhooks say, as text and as bytes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary" }),
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        async (body, key) => {
          const secret = secretOf(key);
          const text = body.toWellFormed();
          const headers = sign(text, secret);
          const verified = { id: "msg_1", sentAt: new Date(NOW) };
          expect(await verifyWebhook(text, headers, secret, { now })).toEqual(verified);
          expect(await verifyWebhook(new TextEncoder().encode(text), headers, secret, { now })).toEqual(
            verified,
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  test("reads the headers in the form of every framework", async () => {
    const signed = sign("{}", SECRET);
    const upper = Object.fromEntries(
      Object.entries(signed).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const lists = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, [value]]));
    const standard = new Headers(signed);
    /** Headers of frameworks that have their own `Request`. */
    const foreign = { get: (name: string) => standard.get(name) } as Headers;
    for (const headers of [
      signed,
      upper,
      lists,
      standard,
      foreign,
      { ...signed, get: "a field of this name" },
    ])
      expect(await verifyWebhook("{}", headers, SECRET, { now })).toMatchObject({ id: "msg_1" });
  });

  test("accepts one of several signatures by one of several secrets, as during a rotation", async () => {
    const [old, fresh, other] = [SECRET, secretOf(randomBytes(24)), secretOf(randomBytes(64))];
    const both = [sign("x", old), sign("x", fresh)].map((one) => one["webhook-signature"]).join(" ");
    const headers = { ...sign("x", old), "webhook-signature": `v1a,AAAA v2,x v1 v1,%%% ${both}` };
    for (const secrets of [old, fresh, [other, fresh], [old, other]])
      expect(await verifyWebhook("x", headers, secrets, { now })).toMatchObject({ id: "msg_1" });
    expect(await errorOf(verifyWebhook("x", headers, [other], { now }))).toMatchObject({
      code: "webhook_signature_wrong",
    });
    expect(await errorOf(verifyWebhook("x", headers, [], { now }))).toMatchObject({
      code: "webhook_signature_wrong",
    });
  });

  test.each([
    ["another body", "y", {}],
    ["another id", "x", { "webhook-id": "msg_2" }],
    ["another time", "x", { "webhook-timestamp": String(NOW / 1000 + 1) }],
    ["no signature of version 1", "x", { "webhook-signature": "v2,AAAA" }],
    ["one under another version's name", "x", { "webhook-signature": `v2,${signatureOf("x")}` }],
    ["a cut signature", "x", { "webhook-signature": sign("x", SECRET)["webhook-signature"].slice(0, -4) }],
  ])("refuses %s", async (_, body, changed) => {
    const error = await errorOf(verifyWebhook(body, { ...sign("x", SECRET), ...changed }, SECRET, { now }));
    expect(error).toMatchObject({ name: "ApiError", code: "webhook_signature_wrong" });
  });

  test.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
    "refuses a message without %s",
    async (name) => {
      const headers = { ...sign("x", SECRET), [name]: undefined };
      expect(await errorOf(verifyWebhook("x", headers, SECRET, { now }))).toMatchObject({
        code: "webhook_unsigned",
      });
    },
  );

  test("refuses a correctly signed message whose time is more than five minutes off", async () => {
    for (const [offsetMs, isGood] of [
      [-300_000, true],
      [300_000, true],
      [-301_000, false],
      [301_000, false],
    ] as const) {
      const headers = sign("x", SECRET, { at: NOW + offsetMs });
      const verified = verifyWebhook("x", headers, SECRET, { now });
      if (isGood) expect(await verified).toBeTruthy();
      else expect(await errorOf(verified)).toMatchObject({ code: "webhook_too_old" });
    }
  });

  test("refuses a correctly signed message whose time is not a number", async () => {
    const headers = sign("x", SECRET, { at: Number.NaN });
    expect(await errorOf(verifyWebhook("x", headers, SECRET, { now }))).toMatchObject({
      code: "webhook_unsigned",
    });
  });

  test("a malformed secret throws a TypeError, not an ApiError", async () => {
    await expect(verifyWebhook("x", sign("x", SECRET), "whsec_", { now })).rejects.toThrow(TypeError);
    await expect(verifyWebhook("x", sign("x", SECRET), "%", { now })).rejects.toThrow(TypeError);
  });
});

describe("parseWebhook", () => {
  const event = {
    specversion: "1.0",
    id: "msg_1",
    type: "customer.created",
    data: { resource: { name: "Ada" } },
  };

  test("returns the event; its type determines the type of its resource", async () => {
    const body = JSON.stringify(event);
    const parsed = await parseWebhook(body, sign(body, SECRET), SECRET, { now });
    expect(parsed).toEqual(event);
    if (parsed.type === "customer.created" && parsed.data !== "(erased)") {
      const name: string = parsed.data.resource.name;
      expect(name).toBe("Ada");
    } else expect.unreachable();
  });

  test.each([
    ["not JSON"],
    ["null"],
    ["[]"],
    ['{"id":"msg_1","triggered_by":"customer.created"}'],
    [JSON.stringify({ ...event, id: "msg_2" })],
    [JSON.stringify({ ...event, specversion: "2.0" })],
    [JSON.stringify({ ...event, type: undefined })],
  ])("refuses a body without an event: %s", async (body) => {
    const error = await errorOf(parseWebhook(body, sign(body, SECRET), SECRET, { now }));
    expect(error).toMatchObject({ code: "webhook_unreadable" });
  });

  test("checks the signature first", async () => {
    const error = await errorOf(parseWebhook("not JSON", sign("other", SECRET), SECRET, { now }));
    expect(error).toMatchObject({ code: "webhook_signature_wrong" });
  });
});
