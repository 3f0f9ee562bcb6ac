import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The code of the previous release, from the git history, with the packages that are installed here. */
export type ReleaseBefore = { program: string; remove(): void };

const root = fileURLToPath(new URL("../..", import.meta.url));
const commit = readFileSync(new URL("../previous-release", import.meta.url), "utf8").trim();
const REMEDY = "clone with history (git fetch --unshallow)";

export const hasReleaseBefore =
  spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root }).status === 0;
if (!hasReleaseBefore && process.env.CI)
  throw new Error(
    `the code of the release before (${commit}) is not here, and CI must not skip it: ${REMEDY}`,
  );
if (!hasReleaseBefore)
  console.warn(`Skipped: the release before, because ${commit} is not here. To run: ${REMEDY}.`);

/** A file of that release. */
export const readReleaseBefore = (path: string): string =>
  execFileSync("git", ["show", `${commit}:${path}`], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });

export function unpackReleaseBefore(): ReleaseBefore {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-before-"));
  const archive = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 256 * 1024 * 1024 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return {
    program: join(folder, "packages/server/bin/latchkey.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
