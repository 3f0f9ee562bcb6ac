import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { absentPrograms, PROGRAMS, whySkipped } from "./packages/server/test/support/programs.ts";

/**
 * The fleet, the browser and the examples take longest, so they begin first. Races come last: on a machine that is busy
 * with other tests they show nothing about how long requests make each other wait.
 */
class BrowserFirstRacesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      /e2e\/(pages\/shopper|console\/|clients\/examples|fleet\/fleet\.)/.test(moduleId)
        ? 0
        : moduleId.includes("/storage/")
          ? 2
          : 1;
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

const filesThatImport = (pattern: RegExp): string[] =>
  globSync("{packages,e2e}/**/*.test.ts", { exclude: ["**/node_modules"] }).filter((path) =>
    pattern.test(readFileSync(path, "utf8")),
  );

/** `npm run test:all` alone: walks, processes, servers, browsers, fleets and proofs, which together take minutes. */
const LONG = [
  "e2e/{console,deploy,operator,process}/*.test.ts",
  "e2e/{documentation/{commands,connect-guide},fleet/fleet,providers/identity-providers}.test.ts",
  "e2e/{regular-expressions,release/{packages,release,upgrade},tools/limiter-simulation}.test.ts",
  "packages/server/test/{bundled,costs,member-command,sign-on-command,events/command,attacks/late-valkey}.test.ts",
  "packages/server/test/counters/*.test.ts",
  "packages/server/test/storage/{connections,listener,migrate-beside,pgbouncer,pool,sign-on-races,sign-on-waits}.test.ts",
  "packages/server/src/rate-limit/shared-*.test.ts",
  ...filesThatImport(/from "\.\.\/support\/chromium\.ts"/),
];
/**
 * Rules that apply in several places: `npm run test:all` runs these files once more, on PostgreSQL or on Valkey
 * (support/test-run.ts).
 */
const IN_PLACES = filesThatImport(
  /import \{[^}]*\bengines\b[^}]*\} from ".*support\/engines\.ts"|from ".*support\/(limiters|counting|test-run)\.ts"/,
);

const isNamed = process.argv.slice(3).some((argument) => !argument.startsWith("-"));
const run = isNamed ? "named" : process.argv.includes("--mode=long") ? "long" : "short";
process.env.LATCHKEY_TEST_RUN = run;

const absent = absentPrograms();
if (absent.length > 0 && process.env.CI)
  throw new Error(`CI must not skip a test, and ${absent.map(whySkipped).join("; ")}.`);
for (const name of absent)
  console.warn(`Skipped: the tests with ${PROGRAMS[name].of}, because ${whySkipped(name)}.`);
if (run === "short")
  console.warn(
    "Skipped: the tests that take minutes (vitest.config.ts lists them). To run them: npm run test:all.",
  );

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, ...(run === "short" ? LONG : [])],
    include:
      run === "long"
        ? [...LONG, ...IN_PLACES]
        : ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "e2e/**/*.test.ts"],
    globalSetup: [
      "packages/server/test/support/postgres-server.ts",
      "packages/server/test/support/seen-reset.ts",
      "e2e/fleet/report.ts",
      "packages/console/test/built.ts",
    ],
    setupFiles: ["packages/server/test/support/statements-watch.ts"],
    sequence: { sequencer: BrowserFirstRacesLast },
    // Files share their imports. Fixtures with state are set anew by the hooks of each file.
    isolate: false,
    // Tests wait for answers, for processes and for pages; with one worker more than there are cores, the cores are
    // rarely idle.
    maxWorkers: availableParallelism() + 1,
    // The end of a test that hangs, not a measure of speed: machines are busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
