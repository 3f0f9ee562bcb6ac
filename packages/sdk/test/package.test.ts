import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declares, examples } from "./support/examples.ts";

const here = fileURLToPath(new URL("..", import.meta.url));
const root = join(here, "../..");
const run = promisify(execFile);

describe("the sources", () => {
  const files = readdirSync(join(here, "src"), { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  const read = (path: string) => readFileSync(join(here, "src", path), "utf8");

  test("import only each other: no package, no Node module, nothing of the server", () => {
    for (const path of files)
      for (const [, target = ""] of read(path).matchAll(/from "([^"]+)"|import\("/g)) {
        expect(target, path).toMatch(/^\.\.?\/[a-z/-]+\.ts$/);
        expect(target, path).not.toContain("server");
      }
  });

  test("have at most 300 lines each, except the generated types", () => {
    for (const path of files.filter((file) => file !== "contract.ts"))
      expect(read(path).split("\n").length, path).toBeLessThanOrEqual(300);
  });

  test("the storefront does not import the administration", () => {
    for (const path of files.filter((file) => !file.startsWith("admin")))
      expect(read(path), path).not.toContain('from "./admin');
  });
});

test("the storefront's part is smaller than 5,000 bytes, minified and gzipped", async () => {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: true,
      target: "es2022",
      rolldownOptions: {
        input: join(here, "src/index.ts"),
        preserveEntrySignatures: "strict",
        output: { format: "es" },
      },
    },
  });
  if (!("output" in built)) throw new Error("no output");
  const [chunk, ...others] = built.output;
  expect(others).toEqual([]);
  expect(chunk.exports.sort()).toEqual(["ApiError", "createStorefront"]);
  // The other languages are an entry of their own.
  expect(chunk.code).toContain("Wrong e-mail or password.");
  expect(chunk.code).not.toMatch(/Anmeldung|sesión|connexion|ログイン/);
  const gzipped = gzipSync(chunk.code, { level: 9 }).length;
  console.log(`@latchkey/sdk, storefront: ${chunk.code.length} bytes minified, ${gzipped} gzipped`);
  expect(gzipped).toBeLessThan(5000);
});

describe("the built package", () => {
  let folder: string;
  let dist: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "latchkey-sdk-"));
    dist = join(folder, "node_modules/@latchkey/sdk");
    mkdirSync(join(folder, "node_modules/@latchkey"), { recursive: true });
    await run(process.execPath, [join(here, "build.ts"), dist]);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
    symlinkSync(join(root, "node_modules/undici-types"), join(folder, "node_modules/undici-types"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("has JavaScript, declarations, a README and a licence; its package.json points at them", () => {
    const { exports, ...about } = JSON.parse(readFileSync(join(dist, "package.json"), "utf8"));
    expect(about).toMatchObject({
      name: "@latchkey/sdk",
      version: "0.1.0",
      license: "Apache-2.0",
      type: "module",
    });
    expect(about).not.toHaveProperty("dependencies");
    expect(about).not.toHaveProperty("scripts");
    expect(exports).toEqual({
      ".": { types: "./index.d.ts", default: "./index.js" },
      "./messages": { types: "./messages/index.d.ts", default: "./messages/index.js" },
      "./admin": { types: "./admin/index.d.ts", default: "./admin/index.js" },
      "./webhooks": { types: "./webhooks/index.d.ts", default: "./webhooks/index.js" },
      "./browser.js": { types: "./index.d.ts", default: "./browser.js" },
      "./browser-messages.js": { types: "./messages/index.d.ts", default: "./browser-messages.js" },
    });
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" });
    expect(files).toEqual(
      expect.arrayContaining(["index.js", "index.d.ts", "admin/index.js", "README.md", "LICENSE"]),
    );
    for (const path of files.filter((file) => /\.(js|d\.ts)$/.test(file)))
      expect(readFileSync(join(dist, path), "utf8"), path).not.toMatch(/(from |import\()"[^"]+\.ts"/);
  });

  test("has the storefront's part in one file without imports", async () => {
    const text = readFileSync(join(dist, "browser.js"), "utf8");
    expect(text).not.toMatch(/\bimport\b/);
    expect(Object.keys(await import(pathToFileURL(join(dist, "browser.js")).href)).sort()).toEqual([
      "ApiError",
      "createStorefront",
    ]);
    expect(text).not.toContain("Anmeldung");
  });

  test("has the messages in other languages in one file without imports", async () => {
    const path = join(dist, "browser-messages.js");
    expect(readFileSync(path, "utf8")).not.toMatch(/\bimport\b/);
    const { shopperMessage } = await import(pathToFileURL(path).href);
    expect(shopperMessage({ code: "credentials_wrong", message: "" }, "de-CH")).toMatch(
      /^E-Mail-Adresse oder/,
    );
  });

  test("can be imported by plain Node", async () => {
    writeFileSync(
      join(folder, "plain.mjs"),
      `import { ApiError, createStorefront } from "@latchkey/sdk";
       import { ApiError as Same, createAdmin } from "@latchkey/sdk/admin";
       const options = { baseUrl: "http://127.0.0.1:1", clientId: "id", clientSecret: "secret", sleep: async () => {} };
       const error = await createStorefront(options).listProviders().catch((error) => error);
       const failed = await createAdmin(options).store.get().catch((error) => error);
       console.log(error instanceof ApiError, ApiError === Same, error.code, failed.code);`,
    );
    const { stdout } = await run(process.execPath, ["--no-strip-types", join(folder, "plain.mjs")]);
    expect(stdout.trim()).toBe("true true network_failed network_failed");
  });

  test.each([
    ["Node", "nodenext", { module: "nodenext", lib: ["es2022"], types: ["node"] }],
    [
      "a browser's bundler",
      "bundler",
      { module: "esnext", moduleResolution: "bundler", lib: ["es2022", "dom"], types: [] },
    ],
  ])("has types for %s; the README's examples are typed right", async (_, name, options) => {
    const project = join(folder, name);
    mkdirSync(project);
    const compilerOptions = {
      target: "es2022",
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      ...options,
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    for (const [index, example] of examples.entries())
      writeFileSync(join(project, `example-${index}.ts`), preludeOf(example) + example);
    writeFileSync(join(project, "misuse.ts"), MISUSE);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [tsc, "--project", project]).catch((error) => error);
    expect(stdout).toBe("");
  });

  /** Declares the names that an example takes from earlier examples and from the page. */
  const preludeOf = (example: string): string => {
    const types = {
      shop: 'import("@latchkey/sdk").Storefront',
      token: 'import("@latchkey/sdk").CustomerToken',
    };
    const given = Object.entries(types).filter(([name]) => !declares(example, name));
    const page =
      "declare const location: Record<'href' | 'origin' | 'pathname', string> & { assign(url: string): void };";
    return `${page}\n${given.map(([name, type]) => `declare const ${name}: ${type};\n`).join("")}export {};\n`;
  };

  const MISUSE = `
    import { createStorefront, type ErrorCode } from "@latchkey/sdk";
    import { createAdmin } from "@latchkey/sdk/admin";
    const shop = createStorefront({ baseUrl: "", clientId: "", fetch, storage: undefined });
    const admin = createAdmin({ baseUrl: "", clientId: "", clientSecret: "" });
    export const code: ErrorCode = "callback_replay";
    // @ts-expect-error not a code
    export const typo: ErrorCode = "callback_replayed";
    // @ts-expect-error a redirect URI is needed
    shop.beginSignOn(undefined, {});
    // @ts-expect-error a secret has no place there
    createStorefront({ baseUrl: "", clientId: "", clientSecret: "" });
    // @ts-expect-error application keys come in one order
    admin.applicationKeys.list({ sort: "name" });
    // @ts-expect-error a secret is shown once
    admin.applicationKeys.get("").then(({ data }) => data.client_secret);
    admin.customers.list({ filter: "eq(name,Ada)" }).then(({ next }) => next && admin.customers.list(next));
  `;
});
