import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Installs the packages of bench/package.json, if they are missing. `npm ci` at the root does not install them, because
 * neither the service nor `npm test` needs them; commands that need them run this program first.
 */
const folder = fileURLToPath(new URL("../bench/", import.meta.url));

type Packages = Record<string, { version?: string }>;

const readVersions = (path: string): Packages =>
  JSON.parse(readFileSync(`${folder}${path}`, "utf8")).packages;

/** npm writes the installed packages to `.package-lock.json`; packages for other systems are in the lock file only. */
export function areBenchPackagesHere(): boolean {
  const locked = readVersions("package-lock.json");
  const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
  try {
    const installed = readVersions("node_modules/.package-lock.json");
    return (
      Object.entries(installed).every(([path, { version }]) => locked[path]?.version === version) &&
      Object.keys(dependencies).every((name) => installed[`node_modules/${name}`] !== undefined)
    );
  } catch {
    return false;
  }
}

if (import.meta.main && !areBenchPackagesHere()) {
  console.log(
    "Installing the packages of bench/, which npm ci at the root does not install: npm ci --prefix bench",
  );
  const { status } = spawnSync("npm", ["ci", "--prefix", "bench"], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  process.exit(status ?? 1);
}
