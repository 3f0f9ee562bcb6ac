import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import { until } from "../../packages/server/test/support/until.ts";

/** nginx and Caddy as processes, with the configurations of the documentation. */
export type Gateway = { url: string; close(): Promise<void> };
type Kind = "nginx" | "caddy";

export const isHere = (kind: Kind): boolean => findProgram(kind) !== undefined;

/** The only block of a page in this language. */
export function shownIn(page: string, language: string): string {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
  const [block, ...more] = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))];
  if (!block || more.length > 0) throw new Error(`${page} shows not one block of ${language}`);
  return block[1] as string;
}

/** `http`: the contents of `http { … }`. */
export function startNginx(http: string, url: string): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-nginx-"));
  const errors = join(folder, "error.log");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join(" ");
  const file = join(folder, "nginx.conf");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const around = `${user} worker_processes 2; daemon off; pid ${join(folder, "pid")}; error_log ${errors}; events {}`;
  writeFileSync(file, `${around}\nhttp { access_log off; ${temporary}\n${http} }`);
  return start("nginx", ["-p", folder, "-c", file, "-e", errors], folder, url);
}

/** `options`: further global options. */
export function startCaddy(caddyfile: string, url: string, options = ""): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-caddy-"));
  const file = join(folder, "Caddyfile");
  writeFileSync(file, `{\n\tadmin off\n${options}}\n${caddyfile}`);
  return start("caddy", ["run", "--config", file, "--adapter", "caddyfile"], folder, url);
}

/** Whether a program accepts connections there, in any protocol. */
const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

async function start(kind: Kind, args: string[], folder: string, url: string): Promise<Gateway> {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child: ChildProcess = spawn(findProgram(kind) as string, args, {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said = (said + chunk).slice(-5000);
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${kind} did not start:\n${said}`);
    return listens(Number(new URL(url).port));
  });
  return {
    url,
    async close() {
      child.kill("SIGTERM");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
