import { test } from "vitest";

/**
 * `npm test` is the short run: it needs nothing but Node, and takes PostgreSQL for the races of two instances alone. `npm run test:all` is the long one:
 * the same rules on PostgreSQL and on Valkey, and what takes minutes. Somebody who names files gets all of them. vitest.config.ts says which
 * run this is.
 */
export type TestRun = "short" | "long";

const run = process.env.LATCHKEY_TEST_RUN;

/** A test of a quick file that takes many seconds: only in the long run, and where its file is named. */
export const longTest = test.skipIf(run === "short");

/** Where rules are tested in this run, of a quick place and one that needs a server. */
export const ofRun = <T>({ short, long }: Record<TestRun, T>): T[] =>
  run === "short" ? [short] : run === "long" ? [long] : [short, long];
