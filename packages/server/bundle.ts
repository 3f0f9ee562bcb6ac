import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLED, fileOf } from "./bin/bundled.ts";

/**
 * Makes one file of each library in `BUNDLED`, unless that file exists, and deletes the files of other versions. `npm ci` runs this
 * program, and bin/bundled.ts loads the files.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const folder = join(here, "bundled");

/** Returns the names of the libraries whose file was made. */
export async function bundleLibraries(): Promise<string[]> {
  const missing = BUNDLED.filter((name) => !existsSync(fileOf(name)));
  for (const name of missing) await bundle(name, fileURLToPath(fileOf(name)));
  const current = new Set(BUNDLED.map((name) => basename(fileURLToPath(fileOf(name)))));
  for (const file of readdirSync(folder))
    if (!current.has(file)) rmSync(join(folder, file), { recursive: true, force: true });
  return missing;
}

async function bundle(name: string, file: string): Promise<void> {
  const { build } = await import("vite");
  const entry = `virtual:${name}`;
  // Not in `bundled/`, so that an interrupted run leaves nothing there that could be loaded.
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
      // Not minified: stack traces stay readable, and V8 compiles only the functions that are called.
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
  // Renamed into place, so that a command that starts at this moment finds a whole file or none.
  renameSync(join(outDir, "licensed.js"), file);
  rmSync(outDir, { recursive: true });
}

/** Names each export, because a bundler cannot know the names that a CommonJS module exports. */
async function exportsOf(name: string): Promise<string> {
  const names = Object.keys(await import(name)).filter((one) => one !== "module.exports");
  return `export { ${names.join(", ")} } from ${JSON.stringify(name)};`;
}

if (import.meta.main) {
  try {
    const made = await bundleLibraries();
    if (made.length > 0) process.stdout.write(`Bundled into one file each: ${made.join(", ")}.\n`);
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.error(
      "Libraries are not bundled, and load file by file: the bundler is a development dependency and is not installed.",
    );
  }
}
