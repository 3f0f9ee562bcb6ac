import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLED, fileOf } from "./bin/bundled.ts";

/**
 * Makes one file of each library that bin/bundled.ts loads so, unless it is there, and takes away what else is in the folder. `npm ci`
 * runs it. `--service` also makes few files of the sources: see `bundleService`.
 */
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
      rolldownOptions: {
        cwd: join(here, "../.."),
        input: { library: entry },
        output: { entryFileNames: "library.js" },
      },
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

/**
 * The sources as some seventy files in place of four hundred, for what nobody changes any more: an image, the published package. Where
 * they are, bin/start.js loads these. What a source finds by its own address (scripts for Valkey, the reference's page) it still finds.
 */
export async function bundleService(root: string): Promise<void> {
  const { build } = await import("vite");
  const outDir = join(root, "bundled/service");
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [entry] = ["ts", "js"]
    .map((end) => join(root, `src/cli/cli.${end}`))
    .filter((file) => existsSync(file));
  if (!entry) throw new Error(`there is no src/cli/cli in ${root}`);
  await build({
    configFile: false,
    root,
    logLevel: "warn",
    mode: "production",
    ssr: { noExternal: true },
    plugins: [
      {
        name: "libraries",
        enforce: "pre",
        resolveId: (id: string) =>
          BUNDLED.includes(id)
            ? { id: join(root, "bundled", basename(fileOf(id).pathname)), external: "relative" }
            : null,
      },
      {
        name: "addresses",
        enforce: "pre",
        transform: (code: string, id: string) =>
          code.replaceAll(
            "import.meta.url",
            `new URL(${JSON.stringify(relative(outDir, id))}, import.meta.url).href`,
          ),
      },
    ],
    build: {
      ssr: true,
      outDir,
      emptyOutDir: true,
      target: "node24",
      minify: false,
      rolldownOptions: {
        // Comments name each source from here on: the same text wherever the folder is.
        cwd: root,
        input: { cli: entry },
        external: Object.keys(dependencies)
          .filter((name) => !BUNDLED.includes(name))
          .map((name) => new RegExp(`^${name}(/|$)`)),
        output: { entryFileNames: "[name].js", chunkFileNames: "[name].js" },
      },
    },
  });
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
    if (process.argv.includes("--service")) await bundleService(here);
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.error("Libraries are loaded file by file: what makes one of each is a development dependency.");
  }
}
