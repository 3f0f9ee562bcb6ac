import * as argon2 from "@node-rs/argon2";
import { expect, test, vi } from "vitest";
import { Problem } from "../contract/problem.ts";
import { createPasswords } from "./password.ts";

/** The library itself, with a count of how it is called. */
const counted = () => ({ hash: vi.fn(argon2.hash), verify: vi.fn(argon2.verify) });

const COST = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, saltLen: 16, outputLen: 32 };

test("a password is kept as Argon2id with 19 MiB and two passes, under a salt of its own", async () => {
  const { hash } = createPasswords();
  const [first, second] = await Promise.all([hash("store", "correct horse"), hash("store", "correct horse")]);
  expect(first).not.toBe(second);
  expect(argon2.parseOptions(first as string)).toMatchObject(COST);
  expect(first).not.toContain("correct");
});

test("the right password matches, and nothing else does", async () => {
  const { hash, matches } = createPasswords();
  const kept = await hash("store", "correct horse ");
  expect(await matches("store", kept, "correct horse ")).toBe(true);
  for (const wrong of ["correct horse", "Correct horse ", "", " ", "correct horse  ", kept])
    expect(await matches("store", kept, wrong), wrong).toBe(false);
});

test("the same characters match however a keyboard composes them", async () => {
  const { hash, matches } = createPasswords();
  const composed = await hash("store", "caf\u00e9 12345");
  expect(await matches("store", composed, "cafe\u0301 12345")).toBe(true);
  expect(await matches("store", composed, "caf\u00e9 \uff11\uff12\uff13\uff14\uff15")).toBe(true);
  expect(await matches("store", composed, "cafe 12345")).toBe(false);
});

test("nobody's password is checked with the same work as somebody's, and never matches (T22)", async () => {
  const library = counted();
  const { hash, matches } = createPasswords({ library });
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

test("nobody's password does not match even if the library says that it does", async () => {
  const library = { ...counted(), verify: vi.fn(async () => true) };
  expect(await createPasswords({ library }).matches("store", null, "x")).toBe(false);
});

test("503 at once when too many are waiting; those who wait are served", async () => {
  const library = counted();
  const { hash, matches } = createPasswords({ maxRunning: 1, maxWaiting: 1, library });
  const served = [hash("store", "correct horse"), matches("store", null, "x")];
  for (const refused of [hash("store", "another one"), matches("store", null, "x")]) {
    const problem = await refused.catch((error) => error);
    expect(problem).toBeInstanceOf(Problem);
    expect([problem.code, problem.status, problem.retryAfterSeconds]).toEqual([
      "password_queue_full",
      503,
      1,
    ]);
  }
  expect(library.hash).toHaveBeenCalledOnce();
  await Promise.all(served);
  expect(await matches("store", null, "x")).toBe(false);
});

test("of one store two run and sixteen wait; another store is served between them", async () => {
  const { matches } = createPasswords();
  const order: string[] = [];
  const check = (store: string) => matches(store, null, "x").then(() => order.push(store));
  const loud = Promise.allSettled(Array.from({ length: 40 }, () => check("loud")));
  const quiet = check("quiet");
  expect((await loud).filter(({ status }) => status === "fulfilled")).toHaveLength(18);
  await quiet;
  expect(order.indexOf("quiet")).toBeLessThan(6);
});

test("sixty-four wait in all", async () => {
  const { matches } = createPasswords();
  const stores = Array.from({ length: 100 }, (_, index) => `store ${index}`);
  const results = await Promise.allSettled(stores.map((store) => matches(store, null, "x")));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(66);
});
