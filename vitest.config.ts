import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The fleet, the browser and the examples take longest, so they begin first. Races come last, when they are done: a machine that is kept busy by
 * something else says nothing about how long we make each other wait.
 */
class BrowserFirstRacesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      /e2e\/(browser\.|console|examples\.|fleet\/fleet\.)/.test(moduleId)
        ? 0
        : moduleId.includes("/storage/")
          ? 2
          : 1;
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

/**
 * Walks of an operator, and of who installs a release: each step is a process of its own, and together they take minutes. And the
 * proof of every regular expression, which takes as long as a tenth of all others.
 */
const LONG = [
  "command-line",
  "deploy",
  "identity-providers",
  "operator",
  "outage",
  "packages",
  "regular-expressions",
  "release",
  "restore",
  "stopping",
  "traces",
  "upgrade",
  "webhooks",
];
const isNamed = process.argv.slice(3).some((argument) => !argument.startsWith("-"));
const isAll = isNamed || [process.env.CI, process.env.LATCHKEY_TEST_ALL].some(Boolean);
if (!isAll)
  console.warn(
    `Skipped: e2e/{${LONG.join(",")}}.test.ts, because they take minutes. To run them: npm run test:all.`,
  );

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, ...(isAll ? [] : LONG.map((name) => `e2e/${name}.test.ts`))],
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "e2e/**/*.test.ts"],
    globalSetup: [
      "packages/server/test/support/postgres-server.ts",
      "packages/server/test/support/observed-reset.ts",
      "packages/server/test/support/statements-seen.ts",
      "e2e/fleet/report.ts",
      "packages/console/test/built.ts",
    ],
    setupFiles: ["packages/server/test/support/statements-watch.ts"],
    sequence: { sequencer: BrowserFirstRacesLast },
    // Files share what they import: nothing in it has a state that a test could leave behind.
    isolate: false,
    // Tests wait for answers, for processes that start and for pages; with one worker more than there are cores, fewer of those stand idle.
    maxWorkers: availableParallelism() + 1,
    // The end of what hangs, not a measure of speed: machines are busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
