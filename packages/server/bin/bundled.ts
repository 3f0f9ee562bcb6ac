import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";

/**
 * Loads each of three libraries from one file, which bundle.ts has made. Installed, they are hundreds of small files, and loading
 * these was a third of a start. Without the bundled file the library is loaded as it was installed (ADR 38).
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
