import { describe, expect, test } from "vitest";
import { createKeyring, KEY_ID_BYTES, type Purpose } from "./keyring.ts";

const master = (byte: number): Buffer => Buffer.alloc(32, byte);
const USE: Purpose = "access-token";
const ANOTHER_USE: Purpose = "client-secret";

test("a keyring without a master key cannot be made", () => {
  expect(() => createKeyring([])).toThrow("at least one master key");
});

describe("a single master key", () => {
  const keyring = createKeyring([master(1)]);

  test("opens what it has sealed", () => {
    const { keyId, key } = keyring.current(USE);
    expect(keyId).toHaveLength(KEY_ID_BYTES);
    expect(keyring.find(USE, keyId)?.equals(key)).toBe(true);
  });

  test("gives each purpose a key of its own", () => {
    expect(keyring.current(USE).key.equals(keyring.current(ANOTHER_USE).key)).toBe(false);
  });

  test("derives keys of 256 bits, none of which is the master key", () => {
    const { key } = keyring.current(USE);
    expect(key.symmetricKeySize).toBe(32);
    expect(key.export().equals(master(1))).toBe(false);
  });

  test("gives the same key in another process", () => {
    expect(
      createKeyring([master(1)])
        .current(USE)
        .key.equals(keyring.current(USE).key),
    ).toBe(true);
  });

  test("has an id that shows none of its bytes", () => {
    const { keyId } = keyring.current(USE);
    expect(master(1).includes(keyId)).toBe(false);
    expect(keyring.current(USE).key.export().includes(keyId)).toBe(false);
  });
});

describe("several master keys", () => {
  const older = createKeyring([master(1)]);
  const newer = createKeyring([master(2), master(1), master(3)]);

  test("new values are sealed with the first one", () => {
    const { keyId, key } = newer.current(USE);
    const alone = createKeyring([master(2)]).current(USE);
    expect(keyId.equals(alone.keyId)).toBe(true);
    expect(key.equals(alone.key)).toBe(true);
  });

  test.each([1, 2, 3])("each of them opens old values (%d)", (byte) => {
    const made = createKeyring([master(byte)]).current(USE);
    expect(newer.find(USE, made.keyId)?.equals(made.key)).toBe(true);
  });

  test("each has an id and a key of its own", () => {
    const made = [1, 2, 3].map((byte) => createKeyring([master(byte)]).current(USE));
    expect(new Set(made.map(({ keyId }) => keyId.toString("hex"))).size).toBe(3);
    expect(new Set(made.map(({ key }) => key.export().toString("hex"))).size).toBe(3);
  });

  test("a removed key opens nothing", () => {
    expect(older.find(USE, newer.current(USE).keyId)).toBeUndefined();
  });
});

test.each([
  ["an unknown id", Buffer.alloc(KEY_ID_BYTES)],
  ["no id", Buffer.alloc(0)],
  [
    "part of an id",
    createKeyring([master(1)])
      .current(USE)
      .keyId.subarray(0, 3),
  ],
  [
    "an id with more behind it",
    Buffer.concat([createKeyring([master(1)]).current(USE).keyId, Buffer.alloc(1)]),
  ],
])("%s is not the id of a key", (_, keyId) => {
  expect(createKeyring([master(1)]).find(USE, keyId)).toBeUndefined();
});
