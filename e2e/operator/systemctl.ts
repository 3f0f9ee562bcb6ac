import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Replaces systemctl where no systemd runs: `node systemctl.ts <action> <unit…>`. Takes the command line, the
 * environment and the time to stop from the unit's file, and ignores its restrictions. WALK_ROOT is the operator's `/`.
 */
const root = process.env.WALK_ROOT as string;
const repository = process.env.WALK_REPOSITORY as string;
const inRoot = (path: string) => join(root, path);
const [action = "", ...words] = process.argv.slice(2);
const units = words.filter((word) => !word.startsWith("--"));

mkdirSync(inRoot("run"), { recursive: true });
if (action === "reload" && units[0] === "nginx") reloadNginx();
else if (words.includes("--no-block")) beginRestart();
else if (action !== "daemon-reload")
  for (const unit of units) {
    if (action === "stop" || action === "restart") await stop(unit);
    if (action !== "stop") start(unit);
  }

/** The signal is sent when this returns; the stop continues in the background. */
function beginRestart(): void {
  for (const unit of units) process.kill(Number(readFileSync(inRoot(`run/${unit}.pid`), "utf8")), "SIGTERM");
  const env = { ...process.env, WALK_SIGNALLED: "yes" };
  const program = process.argv[1] as string;
  spawn(process.execPath, [program, "restart", ...units], { env, detached: true, stdio: "ignore" }).unref();
}

function start(unit: string): void {
  const [name, instance = ""] = unit.split("@");
  const text = readFileSync(inRoot(`etc/systemd/system/${name}@.service`), "utf8").replaceAll("%i", instance);
  const optionOf = (option: string) => text.match(new RegExp(`^${option}=(.*)$`, "m"))?.[1] ?? "";
  const lines = [
    ...readFileSync(inRoot(optionOf("EnvironmentFile")), "utf8").split("\n"),
    optionOf("Environment"),
  ];
  const env = Object.fromEntries(
    lines.filter(Boolean).map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]),
  );
  // A shell, `-c`, and one argument in quotes.
  const [, shell = "", typed = ""] = /^(\S+) -c '([^']+)'$/.exec(optionOf("ExecStart")) ?? [];
  const log = openSync(inRoot(`run/${unit}.log`), "a");
  const child = spawn(shell, ["-c", typed], {
    cwd: optionOf("WorkingDirectory").replace("/srv/latchkey", repository),
    env: { PATH: process.env.PATH, ...env },
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  writeFileSync(inRoot(`run/${unit}.pid`), String(child.pid));
  child.unref();
}

async function stop(unit: string): Promise<void> {
  const file = inRoot(`run/${unit}.pid`);
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8"));
  if (process.env.WALK_SIGNALLED === undefined) process.kill(pid, "SIGTERM");
  for (let tries = 0; tries < 300 && isAlive(pid); tries++) await sleep(100);
  if (isAlive(pid)) throw new Error(`${unit} does not stop`);
  rmSync(file);
}

/** A zombie counts as ended too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** The operator's files, with the paths and ports of the test. */
function reloadNginx(): void {
  const folder = inRoot("run/nginx");
  const files = readdirSync(inRoot("etc/nginx/conf.d")).map((name) =>
    readFileSync(inRoot(`etc/nginx/conf.d/${name}`), "utf8"),
  );
  const http = files
    .join("\n")
    .replaceAll("/etc/ssl/", inRoot("etc/ssl/"))
    .replace("listen 443 ssl;", `listen 127.0.0.1:${process.env.WALK_TLS_PORT} ssl;`)
    .replace("listen 80;", `listen 127.0.0.1:${process.env.WALK_PLAIN_PORT};`);
  mkdirSync(folder, { recursive: true });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const errors = join(folder, "error.log");
  const around = `${user} worker_processes 2; pid ${join(folder, "pid")}; error_log ${errors}; events {}`;
  writeFileSync(
    join(folder, "nginx.conf"),
    `${around}\nhttp { access_log off; ${temporary.join(" ")}\n${http} }`,
  );
  const started = spawnSync("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", errors], {
    encoding: "utf8",
  });
  if (started.status !== 0) throw new Error(started.stderr);
}
