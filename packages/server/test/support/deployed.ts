import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleLibraries } from "../../bundle.ts";

const server = fileURLToPath(new URL("../..", import.meta.url));

/** A copy of the service in a folder of its own, as the image has it. */
export async function deploy(): Promise<{ folder: string; program: string; remove(): void }> {
  await bundleLibraries();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "latchkey-deployed-")));
  for (const part of ["bin", "src", "bundled", "package.json"])
    cpSync(join(server, part), join(folder, part), { recursive: true });
  symlinkSync(join(server, "../../node_modules"), join(folder, "node_modules"));
  return {
    folder,
    program: join(folder, "bin/latchkey.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
