import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../packages/server/test/support/postgres-server.ts";
import { until } from "../packages/server/test/support/until.ts";
import { type Registry, startRegistry } from "./registry.ts";

/** The packages as a stranger gets them: packed, and installed by npm into an empty folder. */

const root = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
let registry: Registry;
/** Everything is in here, npm's own files too. */
let home: string;
let folder: string;
let env: Record<string, string>;
let installed: string;

beforeAll(async () => {
  registry = await startRegistry(root);
  home = mkdtempSync(join(tmpdir(), "latchkey-stranger-"));
  folder = join(home, "shop");
  mkdirSync(folder);
  env = {
    PATH: process.env.PATH as string,
    HOME: home,
    npm_config_registry: registry.url,
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  };
  const packed = await run(process.execPath, [join(root, "scripts/pack.ts"), join(home, "packed")]);
  const { stdout, stderr } = await run("npm", ["install", ...packed.stdout.trim().split("\n")], {
    cwd: folder,
    env,
  });
  installed = stdout + stderr;
});
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await registry?.close();
});

const filesOf = (name: string) =>
  readdirSync(join(folder, "node_modules", name), { recursive: true, encoding: "utf8" });

test("nothing is said at the installation that a stranger would have to read", () => {
  expect(installed).not.toMatch(/deprecated|install-scripts/);
  expect(installed).toMatch(/added \d+ packages/);
});

test.each(["latchkey", "@latchkey/sdk"])(
  "%s has no tests, and nothing that Node must strip of types",
  (name) => {
    const files = filesOf(name);
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((path) => /\.ts$/.test(path) && !path.endsWith(".d.ts"))).toEqual([]);
    expect(files.filter((path) => /\.test\.|(^|\/)test\//.test(path))).toEqual([]);
    for (const path of files.filter((file) => file.endsWith(".js")))
      expect(readFileSync(join(folder, "node_modules", name, path), "utf8"), path).not.toMatch(
        /(from |import |import\()"\.[^"]+\.ts"/,
      );
  },
);

test("the service has what the repository's has: every file of its own, and no dependency more or less", () => {
  const sources = readdirSync(join(root, "packages/server/src"), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.\w+$/.test(path) && !path.endsWith(".test.ts"))
    .map((path) => join("src", path.replace(/\.ts$/, ".js")));
  expect(filesOf("latchkey")).toEqual(expect.arrayContaining(sources));
});

describe("`npx latchkey dev` in the stranger's folder", () => {
  let child: ChildProcess;
  let output = "";
  const addressOf = (what: string) => new RegExp(`${what} +(http://\\S+)`).exec(output)?.[1] as string;
  const clientId = () => /client id +(\S+)/.exec(output)?.[1] as string;

  beforeAll(async () => {
    child = spawn("npx", ["latchkey", "dev"], {
      cwd: folder,
      env: { ...env, PORT: String(await freePort()) },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const note = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout?.on("data", note);
    child.stderr?.on("data", note);
    await until(() => {
      if (child.exitCode !== null) throw new Error(output);
      return output.includes("Ctrl-C");
    });
  });
  afterAll(async () => {
    // npx, its shell and the service: one group of processes.
    if (child?.pid) process.kill(-child.pid, "SIGTERM");
    await until(() => child.exitCode !== null || child.signalCode !== null);
  });

  test("has the console, with all that its page loads", async () => {
    const page = await (await fetch(`${addressOf("service")}/console/`)).text();
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
    expect(loaded.length).toBeGreaterThan(2);
    for (const path of loaded)
      expect((await fetch(new URL(path, addressOf("service")))).status, path).toBe(200);
  });

  test("has the shop with its modules, the practice provider and the reference", async () => {
    const page = await (await fetch(addressOf("shop"))).text();
    const [, script] = /<script type="module" src="([^"]+)"/.exec(page) ?? [];
    const module = await (await fetch(new URL(script as string, addressOf("shop")))).text();
    expect(module).toMatch(/^import .* from "\/(pages|sdk)\/.*\.js"/m);
    for (const path of ["docs", "docs/page.js", "openapi.json", "health/ready"])
      expect((await fetch(`${addressOf("service")}/${path}`)).status, path).toBe(200);
    expect((await fetch(addressOf("practice IdP"))).status).toBe(200);
  });

  test("is used by a program with the SDK, in plain Node", async () => {
    writeFileSync(
      join(folder, "shop.mjs"),
      `import { createStorefront } from "@latchkey/sdk";
       const shop = createStorefront({ baseUrl: ${JSON.stringify(addressOf("service"))}, clientId: "${clientId()}" });
       const [provider] = await shop.listProviders();
       const token = await shop.signIn({ email: "dora@shop.example", password: "practice-password" });
       console.log(provider.name, (await shop.customer(token).get()).email);`,
    );
    const { stdout } = await run(process.execPath, ["--no-strip-types", "shop.mjs"], { cwd: folder });
    expect(stdout).toContain("dora@shop.example");
  });
});

test("Vite builds a page with the SDK", async () => {
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><meta charset="utf-8"><script type="module" src="/main.js"></script>',
  );
  writeFileSync(
    join(folder, "main.js"),
    'import { createStorefront } from "@latchkey/sdk"; globalThis.shop = createStorefront({ baseUrl: "", clientId: "" });',
  );
  const built = await build({ root: folder, configFile: false, logLevel: "silent", build: { write: false } });
  if (!("output" in built)) throw new Error("no output");
  expect(built.output.map(({ fileName }) => fileName)).toContain("index.html");
});
