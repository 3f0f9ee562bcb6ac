import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { projectMetadata, withAbsoluteLinks } from "../../scripts/publishing.ts";
import { buildConsole } from "../console/build.ts";
import { bundleLibraries } from "./bundle.ts";

/**
 * Writes the package `latchkey` as it is published: the service and its command line, with the practice provider, the demo
 * storefront and the SDK that it uses inside. Node runs no TypeScript below node_modules, so the types are stripped here, as
 * Node strips them in the repository: every line keeps its number. `node build.ts [folder]`; the folder is `dist` unless
 * another is given, and is emptied first.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const folder = resolve(process.argv[2] ?? join(here, "dist"));
rmSync(folder, { recursive: true, force: true });

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"));
const writeJson = (path: string, contents: object) =>
  writeFileSync(path, `${JSON.stringify(contents, null, 2)}\n`);
const { name: _, private: __, dependencies, ...server } = readJson(join(here, "package.json"));
const { optionalDependencies, engines, description } = readJson(join(root, "package.json"));
const demo = readJson(join(root, "packages/demo/package.json"));

strip(join(here, "src"), join(folder, "src"));
strip(join(here, "bin"), join(folder, "bin"));
await bundleLibraries();
cpSync(join(here, "bundled"), join(folder, "bundled"), { recursive: true });
for (const [page, name] of [
  ["packages/server/README.md", "README.md"],
  ["CHANGELOG.md", "CHANGELOG.md"],
] as const)
  writeFileSync(join(folder, name), withAbsoluteLinks(page, server.version));
copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
writeDemo(join(folder, "node_modules/@latchkey/demo"));
writeSdk(join(folder, "node_modules/@latchkey/sdk"));
await writeConsole(join(folder, "node_modules/@latchkey/console"));

const inside = {
  "@latchkey/console": server.version,
  "@latchkey/demo": demo.version,
  "@latchkey/sdk": demo.dependencies["@latchkey/sdk"],
};
writeJson(join(folder, "package.json"), {
  name: "latchkey",
  description,
  ...server,
  ...projectMetadata("packages/server"),
  engines,
  dependencies: { ...demo.dependencies, ...dependencies, ...inside },
  bundleDependencies: Object.keys(inside),
  // The Node that it runs on (ADR 2).
  optionalDependencies,
});

function writeDemo(target: string): void {
  strip(join(root, "packages/demo/src"), join(target, "src"));
  writeJson(join(target, "package.json"), { ...demo, exports: toJavaScript(demo.exports) });
}

function writeSdk(target: string): void {
  const built = spawnSync(process.execPath, [join(root, "packages/sdk/build.ts"), target], {
    stdio: "inherit",
  });
  if (built.status !== 0) process.exit(1);
}

/** What browsers load, and none of what it was made with. */
async function writeConsole(target: string): Promise<void> {
  await buildConsole();
  const { name, version, license, type, exports } = readJson(join(root, "packages/console/package.json"));
  cpSync(join(root, "packages/console/dist"), join(target, "dist"), { recursive: true });
  writeJson(join(target, "package.json"), { name, version, private: true, license, type, exports });
}

/** Everything but tests; what is not TypeScript as it is. */
function strip(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith(".test.ts")) continue;
    const source = join(entry.parentPath, entry.name);
    const target = join(to, source.slice(from.length));
    mkdirSync(dirname(target), { recursive: true });
    if (!/\.(ts|js)$/.test(entry.name)) cpSync(source, target);
    else writeFileSync(toJavaScript(target), toJavaScriptImports(readFileSync(source, "utf8"), entry.name));
  }
}

function toJavaScriptImports(text: string, name: string): string {
  const code = name.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
  return code.replaceAll(/\b((?:from|import) |import\()"(\.[^"]+\.ts)"/g, (_match, before, specifier) => {
    return `${before}"${toJavaScript(specifier)}"`;
  });
}

function toJavaScript(path: string): string {
  return path.replace(/\.ts$/, ".js");
}
