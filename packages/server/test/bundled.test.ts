import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bundleLibraries } from "../bundle.ts";

const server = fileURLToPath(new URL("..", import.meta.url));

/** In a process of its own, because this process keeps what it has imported. */
const run = (script: string): unknown =>
  JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: server }).toString(),
  );

describe("a library that is loaded as one file", () => {
  beforeEach(() => bundleLibraries());

  test.each(["kysely", "prom-client", "zod"])(
    "%s exports the same names as the installed library",
    (name) => {
      const namesAfter = (first: string) =>
        run(`${first}; console.log(JSON.stringify(Object.keys(await import("${name}")).sort()))`) as string[];
      const installed = namesAfter("").filter((one) => one !== "module.exports");
      expect(installed.length).toBeGreaterThan(5);
      expect(namesAfter('await import("./bin/bundled.ts")')).toEqual(installed);
    },
  );

  test("resolves to the file that bundle.ts made", () => {
    const script = `await import("./bin/bundled.ts");
      console.log(JSON.stringify(["kysely", "prom-client", "zod", "pg"].map((name) => import.meta.resolve(name))))`;
    const [kysely, promClient, zod, pg] = run(script) as string[];
    expect(kysely).toMatch(/server\/bundled\/kysely-[\d.]+\.js$/);
    expect(promClient).toMatch(/server\/bundled\/prom-client-[\d.]+\.js$/);
    expect(zod).toMatch(/server\/bundled\/zod-[\d.]+\.js$/);
    expect(pg).toMatch(/node_modules\/pg\//);
  });

  describe("without that file", () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "latchkey-bundled-"));
      for (const part of ["bin", "package.json"])
        cpSync(join(server, part), join(folder, part), { recursive: true });
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    test("is loaded as installed", () => {
      const hook = pathToFileURL(join(folder, "bin/bundled.ts"));
      const resolved = run(
        `await import("${hook}"); console.log(JSON.stringify(import.meta.resolve("kysely")))`,
      );
      expect(resolved).toMatch(/node_modules\/kysely\/dist\/index\.js$/);
    });
  });
});
