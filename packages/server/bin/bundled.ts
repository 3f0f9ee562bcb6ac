import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";

/**
 * Three libraries come as hundreds of small files, and loading those was a third of a start. bundle.ts makes one file of each, named by
 * the version that package.json asks for. Where that is not there, the library is loaded as it was installed (ADR 38).
 */
export const BUNDLED = ["kysely", "prom-client", "zod"];

const { dependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

export const fileOf = (name: string): URL =>
  new URL(`../bundled/${name}-${dependencies[name]}.js`, import.meta.url);

const there = new Set(BUNDLED.filter((name) => existsSync(fileOf(name))));

registerHooks({
  resolve: (specifier, context, next) =>
    there.has(specifier)
      ? { url: fileOf(specifier).href, format: "module", shortCircuit: true }
      : next(specifier, context),
});
