import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../lib/canonical-json.ts";
import { digestOf, hashOf } from "./chain.ts";
import { type EventRow, presentEvent } from "./event.ts";

const sha256 = (...parts: (string | Buffer)[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("base64url");
};

test("the hash is SHA-256 over the canonical form of all attributes but hash, data and salt (wire 16)", () => {
  fc.assert(
    fc.property(
      fc.record({ subject: fc.string(), source: fc.webUrl(), sequence: fc.nat(), time: fc.nat(4e12) }),
      (some) => {
        const event: EventRow = {
          store_id: "01890000-0000-7000-8000-000000000000",
          id: "01890000-0000-7000-8000-000000000001",
          type: "customer.created",
          actor_id: null,
          person_id: null,
          latest_time: some.time,
          salt: randomBytes(16).toString("base64url"),
          digest: sha256("d"),
          previous_hash: "",
          hash: "",
          data: '{"resource":{}}',
          ...some,
        };
        const { hash: _, data: _data, salt: _salt, ...attributes } = presentEvent(event);
        expect(hashOf(event)).toBe(sha256(canonicalJson(attributes)));
      },
    ),
  );
});

test("the digest is SHA-256 over the bytes of the salt and then the canonical form of the data (wire 16)", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.object(), (salt, value) => {
      const data = canonicalJson(JSON.parse(JSON.stringify(value)));
      expect(digestOf(Buffer.from(salt), data)).toBe(sha256(Buffer.from(salt), data));
    }),
  );
});
