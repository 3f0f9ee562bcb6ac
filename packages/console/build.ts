import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { productsAsText, recipes } from "./recipes.ts";
import { remedies } from "./remedies.ts";
import { SCREENS } from "./src/screens.ts";

/**
 * Builds the console into dist/, unless dist/ was built from the same sources. `npm ci`, `npm start` and the
 * tests run it. dist/console.json lists the files and the screen paths that the service serves.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const dist = join(here, "dist");
const LISTING = "console.json";

type Listing = { madeFrom: string; screens: readonly string[]; files: readonly string[] };

/** The sources of the build. The lock file represents the libraries. */
const SOURCES = [
  "build.ts",
  "recipes.ts",
  "remedies.ts",
  "index.html",
  "src",
  "../sdk/src",
  "../server/src/contract/problems.ts",
  "../server/src/contract/known-providers.ts",
  "../server/src/http/look/tokens.css",
  "../server/package.json",
  "../../package.json",
  "../../package-lock.json",
];

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

function digestOfSources(): string {
  const hash = createHash("sha256");
  for (const source of SOURCES) {
    const path = join(here, source);
    for (const file of path.endsWith("src") ? filesIn(path) : [path])
      hash.update(file.slice(here.length)).update(readFileSync(file));
  }
  return hash.digest("base64url");
}

function isCurrent(madeFrom: string): boolean {
  const listing = join(dist, LISTING);
  return existsSync(listing) && (JSON.parse(readFileSync(listing, "utf8")) as Listing).madeFrom === madeFrom;
}

/** Returns the duration in milliseconds; undefined if nothing was built. */
export async function buildConsole(): Promise<number | undefined> {
  const madeFrom = digestOfSources();
  if (isCurrent(madeFrom)) return undefined;
  const startedMs = performance.now();
  const { build } = await import("vite");
  // Builds into another folder and renames it, so that a service that starts meanwhile finds a complete build.
  const outDir = join(here, `dist-${process.pid}`);
  await build({
    configFile: false,
    root: here,
    base: "/console/",
    logLevel: "warn",
    // Set explicitly: Vite would read NODE_ENV, which a test runner changes.
    mode: "production",
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    oxc: { jsx: { runtime: "automatic", development: false } },
    plugins: [
      virtual("products", () => `export const PRODUCTS = ${productsAsText()}`),
      virtual("recipes", () => `export const RECIPES = {__proto__:null,...${JSON.stringify(recipes())}}`),
      virtual("remedies", () => `export const remedies = ${JSON.stringify(remedies())}`),
      virtual("documentation", () => `export const DOCUMENTATION = ${JSON.stringify(documentation())}`),
    ],
    build: {
      outDir,
      target: "es2023",
      // Files as data: URLs would need a wider Content-Security-Policy, and browsers could not cache them.
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        // Ignores "use client" of libraries: no server renders React here.
        onLog: (level, log, handle) => {
          if (log.code !== "MODULE_LEVEL_DIRECTIVE") handle(level, log);
        },
      },
    },
  });
  const files = filesIn(outDir).map((file) => file.slice(outDir.length + 1).replaceAll("\\", "/"));
  const listing: Listing = { madeFrom, screens: Object.values(SCREENS), files };
  writeFileSync(join(outDir, LISTING), JSON.stringify(listing, null, 2));
  rmSync(dist, { recursive: true, force: true });
  renameSync(outDir, dist);
  return performance.now() - startedMs;
}

/** A module `virtual:…` whose text is made at the build. */
const virtual = (name: string, text: () => string) => ({
  name,
  resolveId: (id: string) => (id === `virtual:${name}` ? id : undefined),
  load: (id: string) => (id === `virtual:${name}` ? text() : undefined),
});

/**
 * The address of the repository at this version, where the documentation is: no service serves it. The pages of the
 * published packages link there too (scripts/publishing.ts).
 */
export function documentation(): string {
  const read = (file: string) => JSON.parse(readFileSync(join(here, file), "utf8"));
  const { homepage } = read("../../package.json");
  const { version } = read("../server/package.json");
  return `${homepage.replace(/#.*/, "")}/blob/v${version}/`;
}

if (import.meta.main) {
  try {
    const tookMs = await buildConsole();
    if (tookMs !== undefined) process.stdout.write(`The console was built in ${Math.round(tookMs)} ms.\n`);
  } catch (error) {
    if (/native binding/.test((error as Error).message)) {
      console.error(
        "The console cannot be built, because npm has left out a binary of Rolldown, as it does on a Node older than 20.19 or 22.12: " +
          "run npm ci with a newer Node, and without --omit=optional.",
      );
      process.exit(1);
    }
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.error("The console was not built: its tools are development dependencies, which were left out.");
  }
}
