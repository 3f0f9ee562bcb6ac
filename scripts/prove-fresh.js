// Takes the steps of a new user with npm 9, 10 and 11: clone, `npm ci`, `npm start`, a first answer, stop; a test; then
// the same from the
// packed tarballs, with `latchkey dev`. `node scripts/prove-fresh.js [npm version …]`. JavaScript, because this program
// and npm run on the
// machine's own Node. To use another Node, put it first in PATH.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const VERSIONS = ["9", "10", "11"];
/** A start takes two seconds, and much longer on a busy machine. */
const PATIENCE_MS = 120_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "latchkey-fresh-"));
const named = process.argv.slice(2);
try {
  for (const version of named.length > 0 ? named : VERSIONS) await prove(version);
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function prove(wanted) {
  // The path of npm in npx's cache, because npx must not be a parent process of npm.
  const npm = run("npx", ["--yes", `--package=npm@${wanted}`, "-c", "command -v npm"], home).trim();
  const version = run(npm, ["--version"], home).trim();
  const clone = join(home, `npm-${version}`);
  run("git", ["clone", "--quiet", root, clone], home);
  const startedMs = performance.now();
  run(npm, ["ci"], clone);
  const tookSeconds = Math.round((performance.now() - startedMs) / 1000);
  const megabytes = run("du", ["-sm", "node_modules"], clone).split("\t")[0];
  await startAndStop({ npm, version, cwd: clone }, "start");
  run(npm, ["run", "test:some", "--", "packages/server/src/lib/ids.test.ts"], clone);

  const tarballs = run(npm, ["run", "--silent", "pack"], clone).trim().split("\n");
  const shop = join(home, `shop-${version}`);
  mkdirSync(shop);
  run(npm, ["install", ...tarballs], shop);
  await startAndStop({ npm, version, cwd: shop }, "exec", "latchkey", "dev");
  const used = `npm ${version} on Node ${process.versions.node}`;
  for (const folder of [clone, shop]) rmSync(folder, { recursive: true });
  console.log(
    `${used}: npm ci took ${tookSeconds} s and ${megabytes} MB; npm start, a test and the packages work.`,
  );
}

/**
 * Runs npm with `args`, waits for a first answer, sends SIGTERM to npm and checks that no process is left. npm 9
 * ignores SIGTERM and does not pass it on, so with npm 9 the whole process group gets the signal, as from Ctrl-C in a
 * terminal.
 */
async function startAndStop({ npm, version, cwd }, ...args) {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(npm, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const what = `npm ${args.join(" ")}`;
  try {
    await until(`${what} answers`, async () => {
      if (child.exitCode !== null) throw new Error(`${what} ended with ${child.exitCode}`);
      return (await fetch(`http://localhost:${port}/`).catch(() => undefined))?.ok;
    });
    process.kill(version.startsWith("9.") ? -child.pid : child.pid, "SIGTERM");
    await until(`${what} leaves no process behind`, () => !isAnyLeft(child.pid));
  } catch (error) {
    if (isAnyLeft(child.pid)) process.kill(-child.pid, "SIGKILL");
    throw new Error(`${error.message}\n${output}`);
  }
}

/** npm leads a process group with all processes that it starts. */
function isAnyLeft(pid) {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

async function until(rule, condition) {
  const startedMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedMs > PATIENCE_MS) throw new Error(`not within ${PATIENCE_MS} ms: ${rule}`);
    await sleep(50);
  }
}

function run(file, args, cwd) {
  try {
    return execFileSync(file, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw new Error(`${file} ${args.join(" ")} failed:\n${error.stdout}${error.stderr}`);
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
