import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Writes the packages as they are published, `node scripts/pack.ts [folder]`, and prints their paths; `dist` unless a folder is given. */
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, "dist"));
mkdirSync(folder, { recursive: true });
for (const name of ["sdk", "server"]) {
  const built = mkdtempSync(join(tmpdir(), "latchkey-pack-"));
  try {
    execFileSync(process.execPath, [join(root, "packages", name, "build.ts"), built]);
    const file = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
      cwd: built,
      encoding: "utf8",
    });
    console.log(join(folder, file.trim()));
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}
