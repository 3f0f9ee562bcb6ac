import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
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

export default defineConfig({
  test: {
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
    // Much of the time is waiting for processes, so two workers pay even on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // The end of what hangs, not a measure of speed: machines are busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
