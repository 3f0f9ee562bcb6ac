import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "e2e/**/*.test.ts"],
    globalSetup: [
      "packages/server/test/support/postgres-server.ts",
      "packages/server/test/support/observed-reset.ts",
    ],
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
