import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLED, fileOf } from "./bin/bundled.ts";

/** Makes one file of each library that bin/bundled.ts loads so, unless it is there. `npm ci` runs it. */
const here = fileURLToPath(new URL(".", import.meta.url));
const folder = join(here, "bundled");

/** Says which were made. */
export async function bundleLibraries(): Promise<string[]> {
  const missing = BUNDLED.filter((name) => !existsSync(fileOf(name)));
  for (const name of missing) await bundle(name, fileURLToPath(fileOf(name)));
  const current = new Set(BUNDLED.map((name) => basename(fileURLToPath(fileOf(name)))));
  // Those of other versions are never loaded again.
  for (const file of readdirSync(folder))
    if (!current.has(file)) rmSync(join(folder, file), { recursive: true, force: true });
  return missing;
}

async function bundle(name: string, file: string): Promise<void> {
  const { build } = await import("vite");
  const entry = `virtual:${name}`;
  // Not beside the others: what an interrupted run leaves is no bundle.
  const outDir = join(here, `../../node_modules/.cache/latchkey-bundle-${process.pid}`);
  await build({
    configFile: false,
    root: here,
    logLevel: "warn",
    mode: "production",
    ssr: { noExternal: true },
    plugins: [
      {
        name: "entry",
        resolveId: (id: string) => (id === entry ? id : undefined),
        load: (id: string) => (id === entry ? exportsOf(name) : undefined),
      },
    ],
    build: {
      ssr: true,
      outDir,
      emptyOutDir: true,
      license: { fileName: "license.md" },
      target: "node24",
      // Stacks stay readable, and V8 compiles only what is called.
      minify: false,
      rolldownOptions: { input: { library: entry }, output: { entryFileNames: "library.js" } },
    },
  });
  const [code, licenses] = ["library.js", "license.md"].map((part) =>
    readFileSync(join(outDir, part), "utf8"),
  );
  writeFileSync(join(outDir, "licensed.js"), `/*!\n${licenses?.replaceAll("*/", "* /")}*/\n${code}`);
  mkdirSync(folder, { recursive: true });
  // Moved into its place, so that a command that starts meanwhile finds all of it or nothing.
  renameSync(join(outDir, "licensed.js"), file);
  rmSync(outDir, { recursive: true });
}

/** All names are said one by one: of CommonJS no bundler knows them beforehand. */
async function exportsOf(name: string): Promise<string> {
  const names = Object.keys(await import(name)).filter((one) => one !== "module.exports");
  return `export { ${names.join(", ")} } from ${JSON.stringify(name)};`;
}

if (import.meta.main) {
  try {
    const made = await bundleLibraries();
    if (made.length > 0) process.stdout.write(`One file each was made of ${made.join(", ")}.\n`);
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.error("Libraries are loaded file by file: what makes one of each is a development dependency.");
  }
}
