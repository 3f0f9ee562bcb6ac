import { test } from "vitest";

/**
 * `npm test` is the short run: it needs Node alone, and uses PostgreSQL for the races of two instances. `npm run
 * test:all` is the long one: the same rules on PostgreSQL and on Valkey, and the tests that take minutes. A run with
 * named files has all of them. vitest.config.ts sets which run this is.
 */
export type TestRun = "short" | "long";

const run = process.env.LATCHKEY_TEST_RUN;

/** For a slow test of a fast file: it runs in the long run alone, or where its file is named. */
export const longTest = test.skipIf(run === "short");

/** The places of a rule in this run, of a fast one and one that needs a server. */
export const ofRun = <T>({ short, long }: Record<TestRun, T>): T[] =>
  run === "short" ? [short] : run === "long" ? [long] : [short, long];
