import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAMS, type ProgramName } from "../packages/server/test/support/programs.ts";

/**
 * Runs a command as on a machine where only the named programs of the tests are installed: `node
 * scripts/with-programs.ts [program…] -- <command>`. The command's PATH is one folder, with links to all files of the
 * current PATH except the other programs of the tests.
 */
const words = process.argv.slice(2);
const at = words.indexOf("--");
const kept = words.slice(0, at);
const [command, ...args] = words.slice(at + 1);
const unknown = kept.filter((name) => !(name in PROGRAMS));
if (at < 0 || command === undefined || unknown.length > 0) {
  console.error(`usage: node scripts/with-programs.ts [${Object.keys(PROGRAMS).join("|")}…] -- <command>`);
  process.exit(2);
}
const hidden = new Set(
  (Object.keys(PROGRAMS) as ProgramName[])
    .filter((name) => !kept.includes(name))
    .flatMap((name) => PROGRAMS[name].files),
);

const folder = mkdtempSync(join(tmpdir(), "latchkey-path-"));
const bin = join(folder, "bin");
mkdirSync(bin);
for (const path of (process.env.PATH ?? "").split(":").filter((folder) => existsSync(folder)))
  for (const file of readdirSync(path))
    if (!hidden.has(file) && !existsSync(join(bin, file)) && existsSync(join(path, file)))
      symlinkSync(realpathSync(join(path, file)), join(bin, file));
const { CI: _, ...env } = process.env;
const done = spawnSync(command, args, { stdio: "inherit", env: { ...env, PATH: bin } });
rmSync(folder, { recursive: true, force: true });
process.exit(done.status ?? 1);
