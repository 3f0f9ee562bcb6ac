import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LATCHKEY } from "../../packages/server/test/support/command.ts";
import {
  freePort,
  type PostgresServer,
  startPostgres,
} from "../../packages/server/test/support/postgres-server.ts";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import {
  hasValkey,
  startValkey,
  type ValkeyServer,
} from "../../packages/server/test/support/valkey-server.ts";
import { hasOpenssl } from "../support/certificate.ts";
import { isHere } from "../support/gateways.ts";
import { type HonestIdp, startHonestIdp } from "../support/honest-idp.ts";

/**
 * The steps of docs/install.md from nothing to two instances, typed one after the other into one shell. Paths of the machine become
 * paths in a folder, ports become free ones, and `systemctl` and `runuser` stand in for those of a machine with systemd.
 */
const repository = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const page = readFileSync(join(repository, "docs/install.md"), "utf8");
const walk = page.slice(
  page.indexOf("## From nothing to two instances"),
  page.indexOf("\n## Start the service"),
);
const steps = [...walk.matchAll(/^\*\*(\d+)\. ([^*]+?)\.?\*\*/gm)].map((found, index, all) => ({
  number: Number(found[1]),
  title: found[2] as string,
  typed: [...walk.slice(found.index, all[index + 1]?.index).matchAll(/^```bash\n([\s\S]*?)^```$/gm)]
    .map(([, block]) => block)
    .join("\n"),
}));

const binaries = findProgram("postgres");
const hasAll =
  binaries !== undefined &&
  hasValkey &&
  hasOpenssl() &&
  isHere("nginx") &&
  process.platform === "linux" &&
  ["curl", "psql", "pg_dump", "pg_restore"].every((name) => spawnSync(name, ["--version"]).status === 0);

test("the steps are numbered, lead from the installation to an upgrade, and all but the first are executed", () => {
  expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => index + 1));
  expect(steps.filter(({ typed }) => typed === "").map(({ title }) => title)).toEqual(["Install"]);
  const titles = steps.map(({ title }) => title.toLowerCase()).join("; ");
  for (const word of [
    "database",
    "two instances",
    "certificate",
    "nginx",
    "store",
    "identity provider",
    "back up",
    "restore",
    "upgrade",
  ])
    expect(titles).toContain(word);
});

test("an installed or upgraded release has the console: its build tools are removed after the build", () => {
  const unit = readFileSync(join(repository, "deploy/systemd/latchkey@.service"), "utf8");
  const typed = [walk, unit].flatMap((text) => text.match(/npm ci [^`\n]*/g) ?? []);
  expect(typed).toEqual(Array(3).fill("npm ci && npm prune --omit=dev"));
});

describe.skipIf(!hasAll)("the steps", () => {
  let root: string;
  let postgres: PostgresServer;
  let valkey: ValkeyServer;
  let idp: HonestIdp;
  let env: Record<string, string>;
  let shell: ReturnType<typeof startShell>;
  let umask: string;
  let ports: Record<"first" | "second" | "tls" | "plain", number>;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "latchkey-walk-"));
    [postgres, valkey, idp] = await Promise.all([
      startPostgres(binaries as string),
      startValkey(),
      startHonestIdp(),
    ]);
    ports = {
      first: await freePort(),
      second: await freePort(),
      tls: await freePort(),
      plain: await freePort(),
    };
    for (const folder of [
      "etc/ssl/private",
      "etc/ssl/certs",
      "etc/nginx/conf.d",
      "etc/systemd/system",
      "var/backups",
      "root",
      "bin",
    ])
      mkdirSync(join(root, folder), { recursive: true });
    const postgresPort = new URL(postgres.url).port;
    // The state of Debian: the administrator is called postgres, and the role of latchkey does not exist yet.
    const administrate = (user: string, sql: string) => {
      const done = spawnSync(
        "psql",
        ["-h", "127.0.0.1", "-p", postgresPort, "-U", user, "-c", sql, "postgres"],
        { encoding: "utf8" },
      );
      expect(done.status, done.stderr).toBe(0);
    };
    administrate("latchkey", "create role postgres superuser login");
    administrate("postgres", "alter role latchkey rename to bootstrap");
    const script = (name: string, text: string) =>
      writeFileSync(join(root, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    script("runuser", 'shift 3; exec env PGUSER=postgres PGDATABASE= "$@"');
    script("systemctl", `exec "${process.execPath}" "${repository}/e2e/operator/systemctl.ts" "$@"`);
    script("npx", `shift; exec "${process.execPath}" "${LATCHKEY}" "$@"`);
    writeFileSync(join(root, "root/.curlrc"), `connect-to = "keys.example:443:127.0.0.1:${ports.tls}"\n`);
    env = {
      PATH: `${join(root, "bin")}:${process.env.PATH}:/usr/sbin`,
      HOME: join(root, "root"),
      PGHOST: "127.0.0.1",
      PGPORT: postgresPort,
      WALK_ROOT: root,
      WALK_REPOSITORY: repository,
      WALK_TLS_PORT: String(ports.tls),
      WALK_PLAIN_PORT: String(ports.plain),
      IDP_CLIENT_ID: idp.clientId,
      IDP_CLIENT_SECRET: idp.clientSecret,
      NO_COLOR: "1",
    };
    shell = startShell(env);
    umask = (await shell.type("umask")).said.trim();
  });
  afterAll(async () => {
    shell?.end();
    for (const name of existsSync(join(root, "run"))
      ? readdirSync(join(root, "run"), { recursive: true, encoding: "utf8" })
      : []) {
      if (!/\.pid$|nginx\/pid$/.test(name)) continue;
      try {
        process.kill(Number(readFileSync(join(root, "run", name), "utf8")), "SIGTERM");
      } catch {
        // The process has ended by itself.
      }
    }
    await Promise.all([idp?.close(), valkey?.remove()]);
    await postgres?.remove();
    rmSync(root, { recursive: true, force: true });
  });

  /** Replaces the machine's paths, ports and names by the test's. */
  const withOurs = (typed: string): string =>
    typed
      .replaceAll("cd /srv/latchkey", `cd ${repository}`)
      .replaceAll(/(?<![\w.}])\/(etc|var)\//g, `${root}/$1/`)
      .replaceAll("@127.0.0.1/latchkey", `@127.0.0.1:${env.PGPORT}/latchkey`)
      .replaceAll("redis://127.0.0.1:6379", valkey.url)
      .replaceAll(
        "\nLATCHKEY_TRUST_PROXY",
        `\nLATCHKEY_EGRESS_ALLOW=${idp.origin}\nLATCHKEY_LOG_LEVEL=warn\nLATCHKEY_TRUST_PROXY`,
      )
      .replaceAll("https://idp.example/.well-known/openid-configuration", idp.discoveryUrl)
      .replaceAll("https://idp.example", idp.discoveryUrl)
      .replaceAll(/\b4000\b/g, String(ports.first))
      .replaceAll(/\b4001\b/g, String(ports.second));

  const expected: Record<string, (said: string) => void> = {
    Configure: (said) => {
      expect(said).toContain("applied: ");
      expect(statSync(join(root, "etc/latchkey/latchkey.env")).mode & 0o777).toBe(0o600);
    },
    "Start two instances": (said) => expect(said.match(/^ready$/gm)).toHaveLength(2),
    "Put nginx in front": (said) => expect(JSON.parse(said.slice(said.indexOf("{")))).toHaveProperty("keys"),
    "Connect the store's identity provider": (said) => {
      expect(said).toContain("0 not met");
      expect(said).toContain("https://shop.example/signed-in");
      expect(said).toMatch(/callback +https:\/\/keys\.example\/sign-on\//);
    },
    Restore: (said) => {
      expect(said).toContain("carried over from the replaced database");
      expect(said).toContain("My shop");
      expect(said.match(/^ready$/gm)).toHaveLength(2);
    },
    Upgrade: (said) => {
      expect(said.match(/^ready$/gm)).toHaveLength(2);
      expect(said).toMatch(/^latchkey \d+\.\d+\.\d+$/m);
    },
  };

  test.each(
    steps
      .filter(({ typed }) => typed !== "")
      .map(({ number, title, typed }) => [number, title, typed] as const),
  )("%i, %s", async (_, title, typed) => {
    const { said, code } = await shell.type(withOurs(typed));
    expect(code, said).toBe(0);
    expect(said).not.toContain("no meaning here");
    expected[title]?.(said);
  });

  test("leave the shell's umask unchanged: the service's user must be able to read the next release", async () => {
    const { said } = await shell.type("umask");
    expect(said.trim()).toBe(umask);
  });

  test("end with instances that serve the restored store over TLS", async () => {
    const { said, code } = await shell.type(
      "curl -fsS https://keys.example/oauth/access_token -d grant_type=client_credentials -d client_id=$CLIENT_ID -d client_secret=$CLIENT_SECRET",
    );
    expect(code, said).toBe(0);
    expect(said).toContain('"access_token"');
  });
});

/**
 * All steps run in the same shell, so each has the variables of the steps before. A step fails with its first failing
 * command.
 */
function startShell(env: Record<string, string>) {
  const child = spawn("bash", ["--norc"], { env, stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  let typed = 0;
  return {
    type(text: string): Promise<{ said: string; code: number }> {
      const mark = `--- step ${++typed} ended with `;
      const from = output.length;
      child.stdin.write(
        `trap 'echo "${mark}$?"; exit 1' ERR; set -E -o pipefail\n${text}\ntrap - ERR\necho "${mark}0"\n`,
      );
      return new Promise((resolve, reject) => {
        const streams = [child.stdout, child.stderr];
        const look = () => {
          const at = output.indexOf(mark, from);
          const code = at < 0 ? undefined : /^\d+(?=\n)/.exec(output.slice(at + mark.length))?.[0];
          if (code === undefined) return;
          for (const stream of streams) stream.off("data", look);
          child.off("exit", fail);
          resolve({ said: output.slice(from, at), code: Number(code) });
        };
        const fail = () => reject(new Error(`the shell has ended:\n${output.slice(from)}`));
        for (const stream of streams) stream.on("data", look);
        child.once("exit", fail);
      });
    },
    end: () => child.stdin.end(),
  };
}
