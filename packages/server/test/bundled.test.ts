import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BUNDLED } from "../bin/bundled.ts";
import { bundleLibraries } from "../bundle.ts";
import { latchkey } from "./support/command.ts";
import { deploy } from "./support/deployed.ts";

const server = fileURLToPath(new URL("..", import.meta.url));

/** In a process of its own: what is imported here stays with the whole run. */
const run = (script: string): unknown =>
  JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: server }).toString(),
  );

describe("a library that is loaded as one file", () => {
  beforeEach(() => bundleLibraries());

  test.each(["kysely", "prom-client", "zod"])("%s has the names that it has as it was installed", (name) => {
    const namesAfter = (first: string) =>
      run(`${first}; console.log(JSON.stringify(Object.keys(await import("${name}")).sort()))`) as string[];
    const installed = namesAfter("").filter((one) => one !== "module.exports");
    expect(installed.length).toBeGreaterThan(5);
    expect(namesAfter('await import("./bin/bundled.ts")')).toEqual(installed);
  });

  test("is the file that bundle.ts made, and nothing of what was installed", () => {
    const script = `await import("./bin/bundled.ts");
      console.log(JSON.stringify(["kysely", "prom-client", "zod", "pg"].map((name) => import.meta.resolve(name))))`;
    const [kysely, promClient, zod, pg] = run(script) as string[];
    expect(kysely).toMatch(/server\/bundled\/kysely-[\d.]+\.js$/);
    expect(promClient).toMatch(/server\/bundled\/prom-client-[\d.]+\.js$/);
    expect(zod).toMatch(/server\/bundled\/zod-[\d.]+\.js$/);
    expect(pg).toMatch(/node_modules\/pg\//);
  });

  describe("and was not made", () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "latchkey-bundled-"));
      for (const part of ["bin", "package.json"])
        cpSync(join(server, part), join(folder, part), { recursive: true });
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    test("is loaded as it was installed", () => {
      const hook = pathToFileURL(join(folder, "bin/bundled.ts"));
      const resolved = run(
        `await import("${hook}"); console.log(JSON.stringify(import.meta.resolve("kysely")))`,
      );
      expect(resolved).toMatch(/node_modules\/kysely\/dist\/index\.js$/);
    });
  });
});

describe("the service as an image has it", () => {
  test("is loaded from few files, and finds what lies beside its sources", async () => {
    const { folder, program, remove } = await deploy();
    try {
      const files = readdirSync(join(folder, "bundled/service"));
      expect(files.length).toBeLessThan(100);
      const code = files
        .map((file) => readFileSync(join(folder, "bundled/service", file), "utf8"))
        .join("\n");
      const beside = [...code.matchAll(/new URL\("([^"]+)", new URL\("([^"]+)", import\.meta\.url\)/g)].map(
        ([, name = "", source = ""]) => join(folder, "bundled/service", source, "..", name),
      );
      expect(beside.length).toBeGreaterThan(3);
      for (const file of beside) expect(existsSync(file), file).toBe(true);
      // Nothing that Node would have to strip of types is left, and no library as it was installed.
      for (const part of ["bin", "src"])
        for (const file of readdirSync(join(folder, part), { recursive: true }).map(String))
          if (file.endsWith(".ts")) rmSync(join(folder, part, file));
      for (const name of BUNDLED) expect(code).not.toContain(`from "${name}"`);
      const { code: status, stdout } = await latchkey(["openapi"], { NODE_OPTIONS: "" }, folder, program);
      expect(status).toBe(0);
      expect(JSON.parse(stdout).info.title).toMatch(/Latchkey/);
    } finally {
      remove();
    }
  });
});
