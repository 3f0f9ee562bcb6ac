import { afterAll, beforeAll, expect, test } from "vitest";
import { createSigningKeys } from "../src/customers/signing-keys.ts";
import { createTestApp, type TestApp } from "./support/app.ts";

let latchkey: TestApp;
beforeAll(async () => {
  latchkey = await createTestApp();
});
afterAll(() => latchkey.close());

test("a key id that nobody knows makes us look into the database once a second, however many bring it (A45)", async () => {
  const { storage, clock, keyring } = latchkey;
  let reads = 0;
  const watched = {
    ...storage,
    get db() {
      reads++;
      return storage.db;
    },
  };
  const keys = createSigningKeys({ storage: watched, clock, keyring, customerTokenSeconds: 86_400 });
  const { kid } = await keys.current();
  const before = reads;
  for (let i = 0; i < 100; i++) expect(await keys.find(`unknown ${i}`)).toBeUndefined();
  expect(reads).toBe(before);
  clock.advance(1000);
  for (let i = 0; i < 100; i++) expect(await keys.find(`unknown ${i}`)).toBeUndefined();
  expect(reads).toBe(before + 1);
  expect(await keys.find(kid)).toBeDefined();
  expect(reads).toBe(before + 1);
});
