import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { projectMetadata, withAbsoluteLinks } from "../../scripts/publishing.ts";

/**
 * Writes the package for publishing: JavaScript, declarations and a package.json. The repository itself uses
 * the sources, so this program runs at a release only. `node build.ts [folder]` empties the folder first; the
 * default is `dist`.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const folder = resolve(process.argv[2] ?? join(here, "dist"));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
const compiled = spawnSync(
  process.execPath,
  [tsc, "--project", join(here, "tsconfig.build.json"), "--outDir", folder],
  { stdio: "inherit" },
);
if (compiled.status !== 0) process.exit(1);

// The compiler writes `.js` into import paths of JavaScript files, but leaves `.ts` in declarations.
for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
  if (!path.endsWith(".d.ts")) continue;
  const text = readFileSync(join(folder, path), "utf8");
  writeFileSync(join(folder, path), text.replaceAll(/((?:from |import\()"\.[^"]+)\.ts"/g, '$1.js"'));
}

/** For pages without a bundler or an import map: the storefront's part, and its messages in other languages. */
const ONE_FILES = { "browser.js": "./src/index.ts", "browser-messages.js": "./src/messages/index.ts" };
for (const [name, source] of Object.entries(ONE_FILES))
  await build({
    configFile: false,
    logLevel: "silent",
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: "es2022",
      rolldownOptions: {
        input: join(here, source),
        preserveEntrySignatures: "strict",
        output: {
          format: "es",
          entryFileNames: name,
        },
      },
    },
  });

const { exports, private: _, ...published } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const built = (source: string) => source.replace("./src/", "./").replace(/\.ts$/, ".js");
const typesOf = (source: string) => built(source).replace(/\.js$/, ".d.ts");
const entries = Object.entries<string>(exports).map(([name, source]) => [
  name,
  { types: typesOf(source), default: built(source) },
]);
const oneFiles = Object.entries(ONE_FILES).map(([name, source]) => [
  `./${name}`,
  { types: typesOf(source), default: `./${name}` },
]);
const contents = {
  ...published,
  ...projectMetadata("packages/sdk"),
  publishConfig: { access: "public" },
  exports: Object.fromEntries([...entries, ...oneFiles]),
};
writeFileSync(join(folder, "package.json"), `${JSON.stringify(contents, null, 2)}\n`);
writeFileSync(join(folder, "README.md"), withAbsoluteLinks("packages/sdk/README.md", published.version));
copyFileSync(join(here, "../../LICENSE"), join(folder, "LICENSE"));
