import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, expect, test, vi } from "vitest";
import { areBenchPackagesHere } from "../scripts/bench-packages.ts";
import { sourceFiles, visit } from "./syntax.ts";

/**
 * No sent text may keep an expression busy: the time of each expression grows with the text, not with its square (A67).
 */

const isHere = areBenchPackagesHere();
const REASON = "recheck, a package of bench/, is not installed; to run this: npm ci --prefix bench";
if (!isHere && process.env.CI)
  throw new Error(`CI must not skip the proof of regular expressions: ${REASON}`);
if (!isHere) console.warn(`Skipped: the proof of regular expressions, because ${REASON}.`);

/** The part of recheck that this file uses: the types are missing without the package. */
type Check = (
  pattern: string,
  flags: string,
  untimed: { timeout: null; incubationTimeout: null; attackTimeout: null },
) => Promise<
  | { status: "safe" }
  | { status: "vulnerable"; complexity: { summary: string } }
  | { status: "unknown"; error: { kind: string } }
>;

type Expression = { place: string; pattern: string; flags: string };

const literals: Expression[] = [];
const putTogether: string[] = [];
for (const path of sourceFiles)
  visit(path, (lineOf) => {
    const note = (node: Parameters<typeof lineOf>[0] & { callee: object }) => {
      if ("name" in node.callee && node.callee.name === "RegExp") putTogether.push(path);
    };
    return {
      Literal(node) {
        if ("regex" in node) literals.push({ place: lineOf(node), ...node.regex });
      },
      NewExpression: note,
      CallExpression: note,
    };
  });

/** A pattern that the code assembles consists of names of the contract; the OpenAPI document has the result. */
const shapes: Expression[] = [];
JSON.parse(readFileSync(new URL("../docs/openapi.json", import.meta.url), "utf8"), (key, value) => {
  if (key === "pattern" && typeof value === "string")
    shapes.push({ place: "docs/openapi.json", pattern: value, flags: "" });
  return value;
});

/**
 * A pattern that is repeated often is checked as if it were repeated without a limit: if that is fast, the limited one
 * is fast too. The number in `\u{20000}` is part of a character.
 */
const OFTEN = 20;
const unbounded = (pattern: string): string =>
  pattern.replaceAll(/(?<!\\u)\{(\d+)(?:,(\d*))?\}/g, (repeated, from: string, to = from) => {
    if (Math.max(Number(from), Number(to)) <= OFTEN && to !== "") return repeated;
    return Number(from) === 0 ? "*" : "+";
  });

afterAll(() => void vi.unstubAllEnvs());

test("regular expressions are literals, so that this test sees them; the sort orders of a list are the exception", () => {
  expect(literals.length).toBeGreaterThan(200);
  expect(shapes.length).toBeGreaterThan(20);
  expect(putTogether).toEqual(["packages/server/src/contract/filter.ts"]);
});

test("regular expressions take time in proportion to the text, not to its square (A67)", {
  timeout: 600_000,
}, async ({ skip }) => {
  if (!isHere) return skip(REASON);
  const { check }: { check: Check } = createRequire(new URL("../bench/package.json", import.meta.url))(
    "recheck",
  );
  // In this process: recheck's native programs are optional, and exist for few platforms.
  vi.stubEnv("RECHECK_BACKEND", "pure");
  // The number of attempts is limited, not their time, so the result does not depend on the machine.
  const untimed = { timeout: null, incubationTimeout: null, attackTimeout: null } as const;
  const different = new Map(
    [...literals, ...shapes].map((one) => [`/${unbounded(one.pattern)}/${one.flags}`, one]),
  );
  const slow: string[] = [];
  for (const { place, pattern, flags } of different.values()) {
    const looked = unbounded(pattern);
    // A pattern that repeats single characters a few times has few ways from each position.
    if (!/[*+]|\)\{/.test(looked)) continue;
    const found = await check(looked, flags, untimed);
    if (found.status === "safe") continue;
    const why = found.status === "vulnerable" ? found.complexity.summary : found.error.kind;
    slow.push(`${place} /${pattern}/${flags}: ${why}`);
  }
  expect(slow).toEqual([]);
});
