import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import { until } from "../../packages/server/test/support/until.ts";

/** Debian's Apache with mod_auth_openidc, as a process of its own. */
const APACHE = findProgram("apache");
const MODULES = "/usr/lib/apache2/modules";

export const hasApache = APACHE !== undefined;

const LOADED = ["mpm_event", "authn_core", "authz_core", "authz_user", "auth_openidc", "headers"];

type Apache = {
  /** The text of its error log. */
  errors(): string;
  close(): Promise<void>;
};

/** `site`: the server's configuration beside its modules. The page at `/` is one word. */
export async function startApache(site: string, port: number): Promise<Apache> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-apache-"));
  const file = join(folder, "apache2.conf");
  const errors = join(folder, "error.log");
  const user = process.getuid?.() === 0 ? "User www-data\nGroup www-data\n" : "";
  const modules = LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join("\n");
  writeFileSync(join(folder, "account"), "account");
  const around = `ServerRoot ${folder}\nServerName localhost\nPidFile ${join(folder, "pid")}\nErrorLog ${errors}
DefaultRuntimeDir ${folder}\nMutex posixsem\nListen 127.0.0.1:${port}\nDocumentRoot ${folder}\nStartServers 1\n`;
  writeFileSync(file, `${modules}\n${user}${around}${site}`);
  const child: ChildProcess = spawn("bash", ["-c", `chmod 755 ${folder}; exec ${APACHE} -X -f ${file}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said = (said + chunk).slice(-5000);
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`Apache did not start:\n${said}`);
    return fetch(`http://127.0.0.1:${port}/`, { redirect: "manual" }).then(
      () => true,
      () => false,
    );
  });
  return {
    errors: () => readFileSync(errors, "utf8"),
    async close() {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
