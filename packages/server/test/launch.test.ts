import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "./support/until.ts";

/** bin/launch.js in a folder of its own, beside platform packages that the test makes. */

const LAUNCHER = fileURLToPath(new URL("../bin/launch.js", import.meta.url));
const system = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const home = realpathSync(mkdtempSync(join(tmpdir(), "latchkey-launch-")));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let folder: string;
let launcher: string;
let folders = 0;
beforeEach(() => {
  folder = join(home, String(folders++));
  launcher = join(folder, "node_modules/latchkey/bin/launch.js");
  mkdirSync(dirname(launcher), { recursive: true });
  copyFileSync(LAUNCHER, launcher);
  writeFileSync(join(folder, "node_modules/latchkey/package.json"), '{ "type": "module" }');
  // A running Node that is too old: the launcher reads its version from here alone.
  writeFileSync(
    join(folder, "old.mjs"),
    'Object.defineProperty(process.versions, "node", { value: "20.1.0" });',
  );
});

/** A platform package in this folder of node_modules. Its Node is the running one, or a file that does not start. */
function install(at: string, version: string, start = true): string {
  const file = join(folder, "node_modules", at, "bin/node");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(join(file, "../../package.json"), JSON.stringify({ version, bin: { node: "bin/node" } }));
  if (start) symlinkSync(process.execPath, file);
  else {
    writeFileSync(file, "#!/no/such/loader\n");
    chmodSync(file, 0o755);
  }
  return file;
}

const onOldNode = ["--import", "./old.mjs"];
const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });

describe("the launcher", () => {
  test.each([`node-${system}`, `node-bin-${system}`])("finds the Node of %s in npm's folder", (name) => {
    const above = install(name, "24.1.0");
    expect(run(...onOldNode, launcher).stdout).toBe(`${above}\n`);
    const inside = install(`latchkey/node_modules/${name}`, "24.2.0");
    expect(run(...onOldNode, launcher).stdout).toBe(`${inside}\n`);
  });

  test("uses the installed Node, not the running one, and puts it first in PATH", () => {
    const installed = install(`node-${system}`, "24.1.0");
    expect(run(launcher).stdout).toBe(`${installed}\n`);
    const { stdout } = run(launcher, "-p", "process.env.PATH");
    expect(stdout.split(":")[0]).toBe(dirname(installed));
  });

  test("uses the running Node where the package is missing, older, or does not start", () => {
    expect(run(launcher).stdout).toBe(`${process.execPath}\n`);
    install(`latchkey/node_modules/node-${system}`, "22.1.0");
    expect(run(launcher).stdout).toBe(`${process.execPath}\n`);
    install(`node-bin-${system}`, "24.1.0", false);
    expect(run(launcher, "-p", "process.execPath").stdout).toBe(`${process.execPath}\n`);
  });

  test.each([
    ["no package", () => {}],
    ["a package of an older Node", () => install(`node-${system}`, "22.1.0")],
    ["a package that does not start", () => install(`node-${system}`, "24.1.0", false)],
  ])("explains in one sentence what is missing, on an old Node with %s", (_, prepare) => {
    prepare();
    const { status, stdout, stderr } = run(...onOldNode, launcher, "-p", "1");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Latchkey needs Node 24 or later, this is Node 20\.1\.0, [^\n]+\.\n$/);
    expect(stderr).toContain(`node-${system}`);
  });

  test("ends with the exit code or the signal of its program", () => {
    expect(run(launcher, "-e", "process.exit(7)").status).toBe(7);
    expect(run(launcher, "-e", "process.kill(process.pid, 'SIGKILL')").signal).toBe("SIGKILL");
  });

  const started = (program: string): { child: ChildProcess; said: () => string } => {
    const child = spawn(process.execPath, [launcher, "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout?.on("data", (chunk) => {
      said += chunk;
    });
    return { child, said: () => said };
  };

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("forwards %s to its program", async (signal) => {
    const { child, said } = started(
      `process.on("${signal}", () => process.exit(5)); setInterval(() => {}, 1000); console.log("ready");`,
    );
    await until(() => said().includes("ready"));
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([5, null]);
  });
});
