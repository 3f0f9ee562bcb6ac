import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "e2e/**/*.test.ts"],
    globalSetup: [
      "packages/server/test/support/postgres-server.ts",
      "packages/server/test/support/observed-reset.ts",
    ],
    // Files share what they import: nothing in it has a state that a test could leave behind.
    isolate: false,
    // Much of the time is waiting for processes, so two workers pay even on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
