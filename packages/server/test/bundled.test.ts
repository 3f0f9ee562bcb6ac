import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bundleLibraries } from "../bundle.ts";

const server = fileURLToPath(new URL("..", import.meta.url));

/** In a process of its own, because an import here would stay loaded for the rest of the run. */
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

describe("the service of an image", () => {
  test("is loaded from few files, and finds the files beside its sources", async () => {
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
      // No TypeScript that Node would have to strip is left, and no library in its installed form.
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
