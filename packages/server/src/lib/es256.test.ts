import { generateKeyPairSync, sign, verify } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isEs256, signEs256 } from "./es256.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
const asJws = <Key>(key: Key) => ({ key, dsaEncoding: "ieee-p1363" as const });
// A number in 256 begins with a zero byte, and one in two with a bit that is set: these many meet both many times.
const MANY = { numRuns: 2000 };
const data = fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes));

describe("ES256", () => {
  test("Node verifies a signature made here as a JWS signature", () => {
    let withZero = 0;
    fc.assert(
      fc.property(data, (bytes) => {
        const signature = signEs256(privateKey, bytes);
        expect(signature).toHaveLength(64);
        if (signature[0] === 0 || signature[32] === 0) withZero++;
        expect(verify("sha256", bytes, asJws(publicKey), signature)).toBe(true);
      }),
      MANY,
    );
    expect(withZero).toBeGreaterThan(0);
  });

  test("a JWS signature made by Node verifies with its own key only", () => {
    fc.assert(
      fc.property(data, (bytes) => {
        const signature = sign("sha256", bytes, asJws(privateKey));
        expect(isEs256(publicKey, bytes, signature)).toBe(true);
        expect(isEs256(other.publicKey, bytes, signature)).toBe(false);
      }),
      MANY,
    );
  });

  test("the verdict on any bytes is that of Node", () => {
    const zero = Buffer.alloc(32);
    const order = Buffer.from("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", "hex");
    const number = fc.oneof(
      fc.constantFrom(zero, order, Buffer.alloc(32, 0xff), Buffer.concat([zero.subarray(1), Buffer.of(1)])),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
    );
    const signature = fc.oneof(
      fc.tuple(number, number).map((numbers) => Buffer.concat(numbers)),
      fc.uint8Array({ maxLength: 140 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(data, signature, (bytes, given) => {
        const judged = verify("sha256", bytes, asJws(publicKey), given);
        expect(isEs256(publicKey, bytes, given)).toBe(judged);
      }),
    );
  });

  test("a signature with a padded second number is refused", () => {
    const bytes = Buffer.from("a cart");
    const good = signEs256(privateKey, bytes);
    const longer = Buffer.concat([good.subarray(0, 32), Buffer.alloc(1), good.subarray(32)]);
    expect(isEs256(publicKey, bytes, longer)).toBe(false);
  });

  test("a signature in Node's own format (DER) is refused", () => {
    const bytes = Buffer.from("a cart");
    expect(isEs256(publicKey, bytes, sign("sha256", bytes, privateKey))).toBe(false);
  });
});
