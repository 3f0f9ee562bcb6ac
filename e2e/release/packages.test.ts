import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { type Registry, startRegistry } from "./registry.ts";

/** The packages as a user gets them: packed, and installed by npm into an empty folder. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "packages/sdk/package.json"), "utf8"));
const run = promisify(execFile);
let registry: Registry;
/** The folder of everything, also of npm's own files. */
let home: string;
let folder: string;
let env: Record<string, string>;
let installed: string;
let released: string;
let tarballs: string[];

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
  released = join(home, "released");
  const made = await run(process.execPath, [join(root, "scripts/release.ts"), released]);
  tarballs = made.stdout.split("\n").filter((path) => path.endsWith(".tgz"));
  const { stdout, stderr } = await run("npm", ["install", ...tarballs], {
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

test("npm prints no warning at the installation", () => {
  expect(installed).not.toMatch(/deprecated|install-scripts/);
  expect(installed).toMatch(/added \d+ packages/);
});

test.each(["latchkey", "@latchkey/sdk"])(
  "%s has no tests, and no TypeScript that Node must strip",
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

test("the service has every source file of the repository and the same dependencies", () => {
  const sources = readdirSync(join(root, "packages/server/src"), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.\w+$/.test(path) && !path.endsWith(".test.ts"))
    .map((path) => join("src", path.replace(/\.ts$/, ".js")));
  expect(filesOf("latchkey")).toEqual(expect.arrayContaining(sources));
});

test("the launcher of the package finds the Node that came with it", async () => {
  const { stdout } = await run("node", ["node_modules/latchkey/bin/launch.js"], { cwd: folder, env });
  expect(stdout).toContain(join(realpathSync(folder), "node_modules/node-"));
  const version = await run(stdout.trim(), ["node_modules/latchkey/bin/latchkey.js", "--version"], {
    cwd: folder,
  });
  expect(version.stdout).toMatch(/^latchkey \d/);
});

describe("`npx latchkey dev` in an empty folder", () => {
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
    // npx, its shell and the service share a process group.
    if (child?.pid) process.kill(-child.pid, "SIGTERM");
    await until(() => child.exitCode !== null || child.signalCode !== null);
  });

  test("has the console, with every file that its page loads", async () => {
    const page = await (await fetch(`${addressOf("service")}/console/`)).text();
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
    expect(loaded.length).toBeGreaterThan(2);
    for (const path of loaded)
      expect((await fetch(new URL(path, addressOf("service")))).status, path).toBe(200);
  });

  test("has the shop with its modules, the practice provider and the API reference", async () => {
    const page = await (await fetch(addressOf("shop"))).text();
    const [, script] = /<script type="module" src="([^"]+)"/.exec(page) ?? [];
    const module = await (await fetch(new URL(script as string, addressOf("shop")))).text();
    expect(module).toMatch(/^import .* from "\/(pages|sdk)\/.*\.js"/m);
    for (const path of ["docs", "docs/page.js", "openapi.json", "health/ready"])
      expect((await fetch(`${addressOf("service")}/${path}`)).status, path).toBe(200);
    expect((await fetch(addressOf("practice IdP"))).status).toBe(200);
  });

  test("serves a program with the SDK, in plain Node", async () => {
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

test("SHA256SUMS and the bills of materials are released with the packages", async () => {
  const names = [`latchkey-${version}`, `latchkey-sdk-${version}`].flatMap((name) => [
    `${name}.cdx.json`,
    `${name}.tgz`,
  ]);
  expect(readdirSync(released).sort()).toEqual(["SHA256SUMS", ...names]);
  const { stdout } = await run("sha256sum", ["--check", "SHA256SUMS"], { cwd: released });
  expect(stdout).toBe(names.map((name) => `${name}: OK\n`).join(""));
});

test("the bill of materials lists the installed packages with their versions, and the packages of the console", () => {
  const bill = JSON.parse(readFileSync(join(released, `latchkey-${version}.cdx.json`), "utf8"));
  expect(bill).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5" });
  type Component = { name: string; version: string; scope: string; purl: string };
  const components: Component[] = bill.components;
  const listed = components.map(({ name, version }) => `${name}@${version}`);
  const { packages } = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"));
  const there = Object.entries<{ version: string; inBundle?: true }>(packages)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf("node_modules/") + 13)}@${version}`)
    .filter((one) => !one.startsWith("latchkey@"));
  expect(there.length).toBeGreaterThan(50);
  expect(listed).toEqual(expect.arrayContaining(there));
  for (const name of ["react", "react-dom", "@ariakit/react", "@tanstack/react-query", "wouter"])
    expect(components.map((component) => component.name)).toContain(name);
  // The rest is for other machines, or in the console's files.
  const required = components.filter(({ scope }) => scope === "required").map(({ name }) => name);
  for (const name of ["vite", "vitest", "typescript", "playwright-core"])
    expect(required).not.toContain(name);
  const refs = new Set([bill.metadata.component.purl, ...components.map(({ purl }) => purl)]);
  expect(bill.dependencies.map(({ ref }: { ref: string }) => ref).sort()).toEqual([...refs].sort());
  for (const { dependsOn } of bill.dependencies) for (const ref of dependsOn) expect(refs).toContain(ref);
});

describe.each(["latchkey", "@latchkey/sdk"])("the package %s", (name) => {
  const read = (file: string) => readFileSync(join(folder, "node_modules", name, file), "utf8");

  test("declares its licence, its origin and its contents", () => {
    const { repository, bugs, ...manifest } = JSON.parse(read("package.json"));
    for (const member of ["description", "license", "homepage", "engines", "exports", "files", "keywords"])
      expect(manifest[member], member).toBeTruthy();
    expect(manifest.private).toBeUndefined();
    expect(repository).toMatchObject({ type: "git", directory: expect.stringMatching(/^packages\//) });
    expect(repository.url).toMatch(/^git\+https:\/\/\S+\.git$/);
    expect(bugs.url).toMatch(/^https:/);
    expect(filesOf(name)).toEqual(expect.arrayContaining(["LICENSE", "README.md"]));
  });

  test("has a README whose links work outside the repository", () => {
    const { repository } = JSON.parse(read("package.json"));
    const base = repository.url.slice("git+".length, -".git".length);
    const targets = [...read("README.md").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
    expect(targets.length).toBeGreaterThan(2);
    const ofVersion = /^\/(?:blob|tree|raw)\/v([^/]+)\/([^#]+)/;
    for (const target of targets.filter((one) => !one.startsWith("#"))) {
      expect(target).toMatch(/^https:\/\//);
      if (!target.startsWith(base)) continue;
      const [, tag, path = "-"] = ofVersion.exec(target.slice(base.length)) ?? [];
      expect([tag, existsSync(join(root, path))], target).toEqual([version, true]);
    }
  });

  test("npm publish --dry-run gives no warning", async () => {
    const tarball = tarballs.find((path) => path.includes("sdk") === name.includes("sdk")) as string;
    // The registry on this machine accepts nothing, and a dry run sends nothing. Without a token npm warns of the token
    // alone.
    const token = { [`npm_config_//${new URL(registry.url).host}/:_authToken`]: "none" };
    const { stdout, stderr } = await run("npm", ["publish", "--dry-run", tarball], {
      cwd: folder,
      env: { ...env, ...token },
    });
    expect(stdout).toContain(`+ ${name}@${version}`);
    expect(stderr).not.toMatch(/npm (warn|err)/i);
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
