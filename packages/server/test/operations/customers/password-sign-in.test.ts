import { describe, expect, test, vi } from "vitest";
import type { Caller } from "../../../src/contract/caller.ts";
import { Problem } from "../../../src/contract/problem.ts";
import { signInWithPassword } from "../../../src/customers/password-sign-in.ts";
import { createPasswords } from "../../../src/passwords/password.ts";
import { createSignInThrottle } from "../../../src/passwords/sign-in-throttle.ts";
import { callerOf, create, latchkey, newEmail, other, PASSWORD, shops } from "./shop.ts";

/** The function behind sign-in with e-mail and password. */

shops();

describe("sign-in with a password", () => {
  const source = "198.51.100.1";

  function build() {
    const { storage, clock } = latchkey;
    const passwords = createPasswords({ clock });
    const matches = vi.spyOn(passwords, "matches");
    const deps = { storage, passwords, signInThrottle: createSignInThrottle({ clock }) };
    const shopper: Caller = { ...callerOf(), grant: "implicit" };
    const attempt = (email: string, password: string, caller = shopper) =>
      signInWithPassword(deps, caller, source, { email, password }, () => false);
    return { deps, matches, attempt };
  }
  const problemOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: Problem) => error,
    );

  test("gives the customer with this e-mail, in any case, and a password", async () => {
    const email = newEmail();
    await create({ email });
    const { id } = (await create({ email, password: PASSWORD })).body.data;
    await create({ email });
    await create({ email, password: "another one" }, other);
    const { attempt } = build();
    expect((await attempt(email.toUpperCase(), PASSWORD)).id).toBe(id);
    expect((await problemOf(attempt(email, "another one")))?.code).toBe("credentials_wrong");
  });

  test("400 with the same answer after one password check, for every mistake (T22)", async () => {
    const [withPassword, without] = [newEmail(), newEmail()];
    await create({ email: withPassword, password: PASSWORD });
    await create({ email: without });
    const { attempt, matches } = build();
    const problems = [];
    for (const [email, password] of [
      [withPassword, "wrong password"],
      [withPassword, ""],
      [without, PASSWORD],
      [without, ""],
      [newEmail(), PASSWORD],
      ["no address", PASSWORD],
      ["", ""],
      ["nul\0@shop.example", PASSWORD],
      ["x".repeat(1024), PASSWORD],
    ] as const) {
      matches.mockClear();
      problems.push(await problemOf(attempt(email, password)));
      expect(matches).toHaveBeenCalledOnce();
    }
    for (const problem of problems) expect(problem).toEqual(new Problem("credentials_wrong"));
  });

  test("429 after five failures, without a password check; it works after the wait", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD })).body.data;
    const { attempt, matches } = build();
    for (let i = 0; i < 5; i++) await problemOf(attempt(email, "wrong password"));
    matches.mockClear();
    const problem = await problemOf(attempt(email, PASSWORD));
    expect([problem?.code, problem?.retryAfterSeconds]).toEqual(["sign_in_attempts_exceeded", 10]);
    expect(matches).not.toHaveBeenCalled();
    latchkey.clock.advance(10_000);
    expect((await attempt(email, PASSWORD)).id).toBe(id);
  });

  test("fifty guesses at once get five checks", async () => {
    const { attempt, matches } = build();
    const problems = await Promise.all(
      Array.from({ length: 50 }, (_, index) => problemOf(attempt("ada@shop.example", `guess ${index}`))),
    );
    expect(matches).toHaveBeenCalledTimes(5);
    expect(problems.filter((problem) => problem?.code === "credentials_wrong")).toHaveLength(5);
  });

  test("an attempt without a password check is not counted", async () => {
    const email = newEmail();
    await create({ email, password: PASSWORD });
    const { attempt, matches } = build();
    for (let i = 0; i < 20; i++) {
      matches.mockRejectedValueOnce(new Problem("password_queue_full"));
      expect((await problemOf(attempt(email, PASSWORD)))?.code).toBe("password_queue_full");
    }
    expect(await problemOf(attempt(email, PASSWORD))).toBeUndefined();
  });

  test("the limit by address holds for public tokens only", async () => {
    for (const [caller, limited] of [
      [callerOf(), false],
      [{ ...callerOf(), grant: "implicit" as const }, true],
    ] as const) {
      const { deps, attempt } = build();
      deps.passwords.matches = async () => false;
      const problems = [];
      for (let i = 0; i < 101; i++) problems.push(await problemOf(attempt(newEmail(), "x", caller)));
      expect(problems.at(-1)?.code === "sign_in_attempts_exceeded").toBe(limited);
    }
  });
});
