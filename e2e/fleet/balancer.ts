import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../packages/server/test/support/until.ts";
import type { Target } from "./ask.ts";
import type { Fleet } from "./fleet.ts";

/** nginx in front of a fleet, with the configuration that docs/operations.md shows. */
export type Balancer = Target & { close(): Promise<void> };

const REMEDY = "install it (Debian: apt-get install nginx)";
const executable = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"].find(existsSync);
export const hasNginx = executable !== undefined;
if (!hasNginx && process.env.CI)
  throw new Error(`nginx is not here, and CI must not skip its tests: ${REMEDY}`);
if (!hasNginx)
  console.warn(`Skipped: the tests behind nginx, because it is not installed. To run them, ${REMEDY}.`);

/** The page's configuration, with our addresses in place of its own, and without TLS. */
export function configurationFor({ instances, publicUrl }: Fleet): string {
  const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const [, shown = ""] = /^```nginx\n([^]*?)^```$/m.exec(page) ?? [];
  let configuration = shown
    .replace(/listen 443 ssl;/, `listen 127.0.0.1:${new URL(publicUrl).port};`)
    .replace(/^ *ssl_certificate.*\n/gm, "");
  for (const [index, { url }] of instances.entries())
    configuration = configuration.replace(`10.0.0.${index + 1}:4000`, new URL(url).host);
  if (/:4000\b|ssl/.test(configuration)) throw new Error(`not all of it was replaced:\n${configuration}`);
  return configuration;
}

export async function startBalancer(fleet: Fleet): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-nginx-"));
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const around = `
    ${process.getuid?.() === 0 ? "user root;" : ""}
    worker_processes 2;
    daemon off;
    pid ${join(folder, "nginx.pid")};
    error_log ${join(folder, "error.log")};
    events {}
    http { access_log off; ${paths.join(" ")} ${configurationFor(fleet)} }`;
  const file = join(folder, "nginx.conf");
  writeFileSync(file, around);
  const child: ChildProcess = spawn(
    executable as string,
    ["-p", folder, "-c", file, "-e", join(folder, "error.log")],
    {
      stdio: "inherit",
    },
  );
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const url = `http://127.0.0.1:${new URL(fleet.publicUrl).port}`;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${around}`);
    return fetch(`${url}/openapi.json`).then(
      (answer) => answer.ok,
      () => false,
    );
  });
  return {
    name: "nginx",
    url,
    async close() {
      child.kill("SIGTERM");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
