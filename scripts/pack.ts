import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Writes the packages that are published and prints their paths: `node scripts/pack.ts [folder]`. The default folder is
 * `dist`.
 */
const root = fileURLToPath(new URL("..", import.meta.url));

export const folderGiven = (): string => resolve(process.argv[2] ?? join(root, "dist"));

/**
 * Gives the paths of the tarballs. The same commit gives the same bytes on every machine with the same Node and npm.
 */
export function packInto(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return ["sdk", "server"].map((name) => {
    const built = mkdtempSync(join(tmpdir(), "latchkey-pack-"));
    try {
      const build = join(root, "packages", name, "build.ts");
      execFileSync(process.execPath, [build, built], { cwd: root, stdio: "inherit" });
      setModes(built);
      const args = ["pack", "--silent", "--pack-destination", folder];
      const file = execFileSync("npm", args, { cwd: built, encoding: "utf8" });
      return join(folder, file.trim());
    } finally {
      rmSync(built, { recursive: true, force: true });
    }
  });
}

/** Sets the modes of all files, because a tarball contains the modes, which depend on the umask. */
function setModes(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    chmodSync(path, entry.isDirectory() || path.startsWith(join(folder, "bin/")) ? 0o755 : 0o644);
  }
}

if (import.meta.main) for (const path of packInto(folderGiven())) console.log(path);
