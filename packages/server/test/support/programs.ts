import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The programs that tests start beside the service. All are looked up on PATH alone, so a PATH without a program is a
 * machine without it. An absent program skips its tests; with CI=true it fails the run (vitest.config.ts does both).
 */
export const PROGRAMS = {
  postgres: {
    of: "PostgreSQL",
    debian: "postgresql",
    files: ["initdb", "postgres", "pg_ctlcluster", "psql", "pg_dump", "pg_restore"],
    find: findPostgres,
  },
  pgbouncer: { of: "PgBouncer", debian: "pgbouncer", files: ["pgbouncer"] },
  valkey: { of: "Valkey or Redis", debian: "redis-server", files: ["valkey-server", "redis-server"] },
  nginx: { of: "nginx", debian: "nginx", files: ["nginx"] },
  caddy: { of: "Caddy", debian: "caddy", files: ["caddy"] },
  apache: {
    of: "mod_auth_openidc",
    debian: "apache2 libapache2-mod-auth-openidc",
    files: ["apache2"],
    find: findApache,
  },
  chromium: { of: "Chromium", debian: "chromium", files: ["chromium"] },
  curl: { of: "curl", debian: "curl", files: ["curl"] },
  openssl: { of: "openssl", debian: "openssl", files: ["openssl"] },
  promtool: { of: "promtool", debian: "prometheus", files: ["promtool"] },
  systemd: { of: "systemd-analyze", debian: "systemd", files: ["systemd-analyze"] },
} satisfies Record<string, Program>;

type Program = {
  of: string;
  debian: string;
  /** Alternatives: on a machine without the program, none of these is on PATH. */
  files: string[];
  find?: () => string | undefined;
};

export type ProgramName = keyof typeof PROGRAMS;

export function findProgram(name: ProgramName): string | undefined {
  const { files, find }: Program = PROGRAMS[name];
  return find ? find() : files.map(onPath).find((path) => path !== undefined);
}

export const absentPrograms = (): ProgramName[] =>
  (Object.keys(PROGRAMS) as ProgramName[]).filter((name) => !findProgram(name));

/** Why the tests with a program are skipped, and the remedy. */
export const whySkipped = (name: ProgramName): string =>
  `${PROGRAMS[name].of} is not installed (Debian: apt-get install ${PROGRAMS[name].debian})`;

/** Debian installs servers in `sbin`, which only root has on PATH: the `sbin` beside a `bin` counts as well. */
function onPath(file: string): string | undefined {
  return foldersOfPath()
    .flatMap((folder) => (folder.endsWith("/bin") ? [folder, folder.replace(/bin$/, "sbin")] : [folder]))
    .map((folder) => join(folder, file))
    .find((path) => existsSync(path));
}

const foldersOfPath = (): string[] => (process.env.PATH ?? "").split(":").filter((folder) => folder !== "");

/** The folder of PostgreSQL's programs. Debian keeps it off PATH; its `pg_ctlcluster` on PATH runs them. */
function findPostgres(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions =
    onPath("pg_ctlcluster") && existsSync(debian)
      ? readdirSync(debian).sort((a, b) => Number(b) - Number(a))
      : [];
  const folders = [...versions.map((version) => join(debian, version, "bin")), ...foldersOfPath()];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

function findApache(): string | undefined {
  return existsSync("/usr/lib/apache2/modules/mod_auth_openidc.so") ? onPath("apache2") : undefined;
}
