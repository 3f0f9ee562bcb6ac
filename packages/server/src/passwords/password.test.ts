import * as argon2 from "@node-rs/argon2";
import { expect, test, vi } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { Problem } from "../contract/problem.ts";
import { createPasswords, hashesAtOnce } from "./password.ts";

const clock = handClock();

/** The library, which counts its calls. */
const counted = () => ({ hash: vi.fn(argon2.hash), verify: vi.fn(argon2.verify) });

const COST = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, saltLen: 16, outputLen: 32 };

test("a password is hashed with Argon2id, 19 MiB, two passes and its own salt", async () => {
  const { hash } = createPasswords({ clock });
  const [first, second] = await Promise.all([hash("store", "correct horse"), hash("store", "correct horse")]);
  expect(first).not.toBe(second);
  expect(argon2.parseOptions(first as string)).toMatchObject(COST);
  expect(first).not.toContain("correct");
});

test("only the right password matches", async () => {
  const { hash, matches } = createPasswords({ clock });
  const kept = await hash("store", "correct horse ");
  expect(await matches("store", kept, "correct horse ")).toBe(true);
  for (const wrong of ["correct horse", "Correct horse ", "", " ", "correct horse  ", kept])
    expect(await matches("store", kept, wrong), wrong).toBe(false);
});

test("the same characters match, composed or decomposed", async () => {
  const { hash, matches } = createPasswords({ clock });
  const composed = await hash("store", "caf\u00e9 12345");
  expect(await matches("store", composed, "cafe\u0301 12345")).toBe(true);
  expect(await matches("store", composed, "caf\u00e9 \uff11\uff12\uff13\uff14\uff15")).toBe(true);
  expect(await matches("store", composed, "cafe 12345")).toBe(false);
});

test("without a hash the same work is done, and no password matches (T22)", async () => {
  const library = counted();
  const { hash, matches } = createPasswords({ clock, library });
  const kept = await hash("store", "correct horse");
  for (const passwordHash of [kept, null]) {
    for (const password of ["wrong", "", "\0".repeat(32)]) {
      library.verify.mockClear();
      expect(await matches("store", passwordHash, password)).toBe(false);
      expect(library.verify).toHaveBeenCalledOnce();
      const checked = library.verify.mock.calls[0]?.[0];
      expect(argon2.parseOptions(checked as string)).toMatchObject(COST);
    }
  }
});

test("without a hash no password matches, even if the library returns true", async () => {
  const library = { ...counted(), verify: vi.fn(async () => true) };
  expect(await createPasswords({ clock, library }).matches("store", null, "x")).toBe(false);
});

/** The library, which waits until the test releases it. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const library = counted();
  library.verify.mockImplementation(async (...given) => {
    await promise;
    return argon2.verify(...given);
  });
  return { library, letGo: resolve };
}

const outcomesOf = async (checks: Promise<unknown>[]) =>
  (await Promise.allSettled(checks)).map(({ status }) => status);

test("503 at once if the wait would be longer than two seconds; earlier requests are still served", async () => {
  const { library, letGo } = held();
  const { matches } = createPasswords({ clock, atOnce: 1, eachMs: 1500, library });
  const served = [matches("store", null, "x"), matches("store", null, "x")];
  const problem = await matches("store", null, "x").catch((error) => error);
  expect(problem).toBeInstanceOf(Problem);
  const { code, status, retryAfterSeconds } = problem;
  expect([code, status, retryAfterSeconds]).toEqual(["password_queue_full", 503, 1]);
  expect(library.verify).toHaveBeenCalledOnce();
  letGo();
  expect(await outcomesOf(served)).toEqual(["fulfilled", "fulfilled"]);
});

test("503 after a wait of two seconds, and nothing is computed", async () => {
  const { library, letGo } = held();
  const clock = handClock();
  const { matches, waiting } = createPasswords({ clock, atOnce: 1, library });
  const checks = [matches("store", null, "x"), matches("store", null, "x")];
  expect(waiting()).toBe(1);
  clock.advance(2000);
  letGo();
  expect(await outcomesOf(checks)).toEqual(["fulfilled", "rejected"]);
  expect(library.verify).toHaveBeenCalledOnce();
});

test("nothing is computed for a client that closed its connection while it waited", async () => {
  const { library, letGo } = held();
  const { matches } = createPasswords({ clock, atOnce: 1, library });
  const checks = [matches("store", null, "x"), matches("store", null, "x", () => false)];
  letGo();
  expect(await outcomesOf(checks)).toEqual(["fulfilled", "rejected"]);
  expect(library.verify).toHaveBeenCalledOnce();
});

test("two cores serve sixty requests of one store, and serve another store between them", async () => {
  const library = { ...counted(), verify: vi.fn(async () => true) };
  const { matches } = createPasswords({ clock, atOnce: 2, library });
  const order: string[] = [];
  const check = (store: string) => matches(store, null, "x").then(() => order.push(store));
  const loud = Array.from({ length: 60 }, () => check("loud"));
  await Promise.all([...loud, check("quiet")]);
  expect(order).toHaveLength(61);
  expect(order.indexOf("quiet")).toBeLessThan(6);
});

test.each([
  ["one for each core", 8, 16e9, 8],
  ["no more than a quarter of the memory has room for", 16, 512 * 2 ** 20, 6],
  ["never none", 2, 32 * 2 ** 20, 1],
])("at once: %s", (_, cores, memoryBytes, expected) => {
  expect(hashesAtOnce(cores, memoryBytes)).toBe(expected);
});
