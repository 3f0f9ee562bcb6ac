import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Installs the packages of all examples, or of the named examples: `npm run examples -- next html`. This program builds
 * and packs @latchkey/sdk and serves it to npm as a registry does; all other packages come from npm's configured
 * registry. `--lock` rewrites the lock files after a change of a package.json.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const all = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const named = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const isLocking = process.argv.includes("--lock");
const unknown = named.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no example ${unknown.join(", ")}; there are ${all.join(", ")}.`);
  process.exit(2);
}

const work = mkdtempSync(join(tmpdir(), "latchkey-examples-"));
const built = join(work, "sdk");
execFileSync(process.execPath, [join(root, "packages/sdk/build.ts"), built]);
const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", work], {
  cwd: built,
  encoding: "utf8",
});
const tarball = readFileSync(join(work, packed.trim()));
const manifest = JSON.parse(readFileSync(join(built, "package.json"), "utf8"));
rmSync(work, { recursive: true });

const registry = createServer((request, response) => {
  if (request.url === "/sdk.tgz") return response.end(tarball);
  if (decodeURIComponent(request.url ?? "") !== "/@latchkey/sdk") return response.writeHead(404).end("{}");
  const version = { ...manifest, dist: { tarball: `${url}/sdk.tgz` } };
  return response.end(
    JSON.stringify({
      name: manifest.name,
      "dist-tags": { latest: manifest.version },
      versions: { [manifest.version]: version },
    }),
  );
});
await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;

try {
  await Promise.all((named.length > 0 ? named : all).map(install));
} finally {
  registry.closeAllConnections();
  registry.close();
}

async function install(name: string): Promise<void> {
  const folder = join(root, "examples", name);
  const lock = join(folder, "package-lock.json");
  const options = [
    "--no-audit",
    "--no-fund",
    "--omit-lockfile-registry-resolved",
    `--@latchkey:registry=${url}`,
  ];
  if (isLocking) rmSync(lock, { force: true });
  const npm = spawn("npm", [isLocking ? "install" : "ci", ...options], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  npm.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => npm.once("exit", resolve));
  if (code !== 0) throw new Error(`npm failed in examples/${name}\n${output}`);
  if (isLocking) dropIntegrity(lock);
  console.log(`examples/${name}: ${output.trim()}`);
}

/** Removes the digest of the SDK from the lock file, because the SDK changes with every commit. */
function dropIntegrity(lock: string): void {
  const contents = JSON.parse(readFileSync(lock, "utf8"));
  delete contents.packages["node_modules/@latchkey/sdk"].integrity;
  writeFileSync(lock, `${JSON.stringify(contents, null, 2)}\n`);
}
