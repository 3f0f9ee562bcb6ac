import { afterEach, expect, test, vi } from "vitest";
import { challengeOf, randomText } from "../src/pkce.ts";

afterEach(() => void vi.unstubAllGlobals());

test("the challenge equals the example of RFC 7636, appendix B", async () => {
  expect(await challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).toBe(
    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  );
});

test("a verifier has 43 characters that need no encoding, and each one is new", () => {
  const made = Array.from({ length: 500 }, randomText);
  for (const text of made) expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(new Set(made).size).toBe(500);
});

test("a page over plain http gets an error that names https", async () => {
  vi.stubGlobal("crypto", {});
  await expect(challengeOf("any")).rejects.toThrow(
    "Sign-on needs a page that came over https, or from localhost.",
  );
});
