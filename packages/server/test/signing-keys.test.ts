import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signJws } from "../src/lib/jws.ts";
import { createKeyring } from "../src/lib/keyring.ts";
import { addNextKey, replaceKeys } from "../src/signing-keys/key-rows.ts";
import { SigningKeys } from "../src/signing-keys/signing-keys.ts";
import { createTestApp, type TestApp } from "./support/app.ts";

let latchkey: TestApp;
beforeAll(async () => {
  latchkey = await createTestApp();
});
afterAll(() => latchkey.close());

test("an unknown key id causes one database read a second, however many requests have it (A45)", async () => {
  const { storage, clock, keyring } = latchkey;
  let reads = 0;
  const watched = {
    ...storage,
    get db() {
      reads++;
      return storage.db;
    },
  };
  const keys = new SigningKeys({ storage: watched, clock, keyring, customerTokenSeconds: 86_400 });
  const signer = await keys.current();
  const good = signJws(signer, "test", {});
  const unknown = (i: number) => signJws({ ...signer, kid: `unknown ${i}` }, "test", {});
  const before = reads;
  for (let i = 0; i < 100; i++) expect(await keys.readSigned(unknown(i))).toBeUndefined();
  expect(reads).toBe(before);
  clock.advance(1000);
  for (let i = 0; i < 100; i++) expect(await keys.readSigned(unknown(i))).toBeUndefined();
  expect(reads).toBe(before + 1);
  expect(await keys.readSigned(good)).toBeDefined();
  expect(reads).toBe(before + 1);
});

test("the first key is visible to the instance that made it, although an older read ends later", async () => {
  const empty = await createTestApp();
  const { storage, clock, keyring } = empty;
  const [readBefore, madeOne] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let reads = 0;
  const db = storage.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (++reads !== 2) return result;
      readBefore.resolve();
      await madeOne.promise;
      return result;
    },
  });
  let second: Promise<unknown> | undefined;
  const transact: typeof storage.transact = async (work) => {
    second ??= keys.current();
    await readBefore.promise;
    const made = await storage.transact(work);
    setImmediate(madeOne.resolve);
    return made;
  };
  const keys = new SigningKeys({
    storage: { ...storage, db, transact },
    clock,
    keyring,
    customerTokenSeconds: 86_400,
  });
  const first = await keys.current();
  expect(first.kid).toBeTypeOf("string");
  expect(await second).toMatchObject({ kid: first.kid });
  await empty.close();
});

test("a verified token is parsed again without its signature, but not after its key was removed", async () => {
  const { storage, clock, keyring } = latchkey;
  const deps = { storage, clock, keyring };
  const keys = new SigningKeys({ ...deps, customerTokenSeconds: 86_400 });
  const text = signJws(await keys.current(), "test", { a: 1 });
  const first = await keys.readSigned(text);
  expect(first?.claims).toEqual({ a: 1 });
  expect(await keys.readSigned(text)).toBe(first);
  await replaceKeys(deps);
  clock.advance(60_000);
  expect(await keys.readSigned(text)).toBeUndefined();
});

test("a token with another signature is refused, although the same token was verified before", async () => {
  const { storage, clock, keyring } = latchkey;
  const keys = new SigningKeys({ storage, clock, keyring, customerTokenSeconds: 86_400 });
  const signer = await keys.current();
  const [good, other] = [signJws(signer, "test", { a: 1 }), signJws(signer, "test", { a: 2 })];
  expect(await keys.readSigned(good)).toBeDefined();
  const mixed = [...good.split(".").slice(0, 2), other.split(".")[2]].join(".");
  expect(await keys.readSigned(mixed)).toBeUndefined();
});

test("a key that cannot be opened is skipped: the others still sign, and the tidying reports it", async () => {
  const own = await createTestApp();
  const { storage, clock, keyring } = own;
  const { kid } = await new SigningKeys({ storage, clock, keyring, customerTokenSeconds: 60 }).current();
  await addNextKey({ storage, clock, keyring: createKeyring([randomBytes(32)]) });
  clock.advance(20 * 60_000);
  const keys = new SigningKeys({ storage, clock, keyring, customerTokenSeconds: 60 });
  expect(await keys.current()).toMatchObject({ kid });
  await expect(keys.maintain()).rejects.toThrow("sealed with a master key that is not here");
  await own.close();
});

test("replaced keys are not used any more, also where the new ones cannot be opened", async () => {
  const own = await createTestApp();
  const { storage, clock, keyring } = own;
  const keys = new SigningKeys({ storage, clock, keyring, customerTokenSeconds: 60 });
  const text = signJws(await keys.current(), "test", {});
  expect(await keys.readSigned(text)).toBeDefined();
  await replaceKeys({ storage, clock, keyring: createKeyring([randomBytes(32)]) });
  clock.advance(60_000);
  await expect(keys.readSigned(text)).rejects.toThrow("sealed with a master key that is not here");
  await own.close();
});
