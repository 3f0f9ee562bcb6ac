import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The files of `npm run release` can be rebuilt from the commit, and compared. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const hasHistory = spawnSync("git", ["rev-parse", "--verify", "HEAD"], { cwd: root }).status === 0;
if (!hasHistory) console.warn("Skipped: releases from clean clones, because this is no clone with history.");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "latchkey-release-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A clean clone of the commit, with the libraries that are installed here and the workspace's own packages from the clone. */
async function makeClone(name: string): Promise<string> {
  const clone = join(folder, name);
  await run("git", ["clone", "--quiet", "--no-hardlinks", root, clone]);
  const libraries = join(clone, "node_modules");
  mkdirSync(join(libraries, "@latchkey"), { recursive: true });
  for (const entry of readdirSync(join(root, "node_modules")))
    if (entry !== "@latchkey" && entry !== ".cache")
      symlinkSync(join(root, "node_modules", entry), join(libraries, entry));
  for (const own of readdirSync(join(clone, "packages")))
    symlinkSync(join("../../packages", own), join(libraries, "@latchkey", own));
  return clone;
}

async function release(clone: string, umask: string): Promise<Record<string, string>> {
  const command = `umask ${umask} && exec "$0" scripts/release.ts`;
  await run("sh", ["-c", command, process.execPath], { cwd: clone });
  const dist = join(clone, "dist");
  return Object.fromEntries(
    readdirSync(dist).map((name) => [name, readFileSync(join(dist, name), "base64")]),
  );
}

test.skipIf(!hasHistory)("two clean clones give the same bytes, whatever their path and umask", async () => {
  const first = await release(await makeClone("one"), "022");
  const second = await release(await makeClone("another-clone"), "077");
  expect(
    Object.keys(first)
      .map((name) => name.replace(/-\d.*?(?=\.(cdx|tgz))/, ""))
      .sort(),
  ).toEqual(["SHA256SUMS", "latchkey-sdk.cdx.json", "latchkey-sdk.tgz", "latchkey.cdx.json", "latchkey.tgz"]);
  for (const [name, bytes] of Object.entries(first)) expect(second[name] === bytes, name).toBe(true);
});
