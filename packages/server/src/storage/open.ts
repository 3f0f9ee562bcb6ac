import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { isOperatorFault, operatorFault } from "../lib/operator-fault.ts";
import { toRealPath } from "../lib/real-path.ts";
import { isUnavailable } from "./failures.ts";
import { hasTables, migrate } from "./migrate.ts";
import { isStrange } from "./sqlite/backup.ts";
import { openSqlite } from "./sqlite/sqlite.ts";
import { writeStatistics } from "./sqlite/statistics.ts";
import type { PostgresOptions, Storage } from "./storage.ts";

/** Connects to `sqlite:<path>`, `sqlite::memory:` or `postgres://…`, and leaves the tables as they are. */
export async function connectStorage(databaseUrl: string, options?: PostgresOptions): Promise<Storage> {
  if (!databaseUrl.startsWith("sqlite:")) return connectPostgres(databaseUrl, options);
  const path = databaseUrl.slice("sqlite:".length);
  // Opening changes a file's mode and log, and a mistyped path may lead to another program's database.
  if (isStrange(path))
    throw operatorFault(
      `${resolve(path)} is another program's database: it has tables, but none of Latchkey's. LATCHKEY_DATABASE_URL says which one is meant.`,
    );
  refuseLogAlone(path);
  return openSqlite(path);
}

/** SQLite deletes an old log when it creates a database, but such a log may have a moved database's last changes. */
function refuseLogAlone(path: string): void {
  if (!existsSync(`${path}-wal`) || existsSync(path)) return;
  throw operatorFault(
    `there is no database ${resolve(path)}, but its log ${resolve(path)}-wal, with changes that are nowhere else. Put the database back beside it, or delete the log to begin anew.`,
  );
}

/** Loads the driver only where it is used: a start is mostly the loading of files. */
async function connectPostgres(url: string, options: PostgresOptions = {}): Promise<Storage> {
  const { openPostgres } = await import("./postgres/postgres.ts");
  return openPostgres(url, options);
}

type Opening = PostgresOptions & { claim?: boolean; mustExist?: boolean };

/**
 * Connects, and migrates the tables to this version. A service claims its database first: a service that is refused has
 * changed nothing. `mustExist`: for commands that only read, which must not create a database.
 */
export async function openStorage(
  { clock }: { clock: Clock },
  databaseUrl: string,
  { claim = false, mustExist = false, ...options }: Opening = {},
): Promise<Storage> {
  const isFile = databaseUrl.startsWith("sqlite:") && databaseUrl !== IN_MEMORY;
  if (mustExist && isFile) refuseMissingFile(databaseUrl.slice("sqlite:".length));
  const storage = await connectStorage(databaseUrl, { ...options, isService: claim });
  try {
    if (claim) storage.claim();
    if (mustExist && databaseUrl !== IN_MEMORY && !(await hasTables(storage))) {
      throw operatorFault(`there are no tables of latchkey in ${describeUrl(databaseUrl)}; ${HOW_TO_MAKE}`);
    }
    await migrateUrl({ clock }, databaseUrl, storage, options);
    if (storage.engine === "sqlite") await writeStatistics(storage).catch(unlessUnavailable);
    return storage;
  } catch (error) {
    await storage.close();
    throw inWords(error, databaseUrl);
  }
}

/** A database opens also on a full disk, or while another process has the lock. */
function unlessUnavailable(error: unknown): void {
  if (!isUnavailable(error)) throw error;
}

const IN_MEMORY = "sqlite::memory:";
const HOW_TO_MAKE =
  "LATCHKEY_DATABASE_URL says which database is meant. `latchkey store create`, `serve`, `dev` and `migrate` make one.";

/** Throws also when the file cannot be looked for: in a folder without read permission it may be there. */
export function refuseMissingFile(path: string, remedy = HOW_TO_MAKE): void {
  if (!statSync(path, { throwIfNoEntry: false }))
    throw operatorFault(`there is no database ${resolve(path)}; ${remedy}`);
}

/** Whether two addresses name one database, by their text. */
export const isSameDatabase = (one: string, other: string): boolean => toPlace(one) === toPlace(other);

/** Compares two open databases on PostgreSQL. A server has several names: localhost, its address, that of a pooler. */
export async function isSameServersDatabase(one: Storage, other: Storage): Promise<boolean> {
  if (one.engine === "sqlite" || other.engine === "sqlite") return false;
  const { findServerAndDatabase } = await import("./postgres/changes.ts");
  const [mine, theirs] = await Promise.all([findServerAndDatabase(one.db), findServerAndDatabase(other.db)]);
  return mine === theirs;
}

function toPlace(databaseUrl: string): string {
  if (databaseUrl.startsWith("sqlite:")) return resolve(toRealPath(databaseUrl.slice("sqlite:".length)));
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  // The folder of a socket is a parameter of the URL.
  const host = searchParams.get("host") ?? hostname;
  return `${host}:${searchParams.get("port") || port || 5432}${pathname}`;
}

/** For messages: without the password, which parameters may hold, too. */
export function describeUrl(databaseUrl: string): string {
  if (databaseUrl.startsWith("sqlite:")) return databaseUrl;
  const { host, pathname } = new URL(databaseUrl);
  return `postgres://${host}${pathname}`;
}

/** Migrations on PostgreSQL have a connection of their own, without limits of time. */
export async function migrateUrl(
  { clock }: { clock: Clock },
  databaseUrl: string,
  storage: Storage,
  { slack = 1 }: Pick<PostgresOptions, "slack"> = {},
): Promise<string[]> {
  if (storage.engine === "sqlite") return migrate({ storage, clock });
  const patient = await connectPostgres(databaseUrl, { patient: true, slack });
  try {
    if (!(await hasTables(patient))) await refuseEncoding(patient, databaseUrl);
    return await migrate({ storage: patient, clock });
  } catch (error) {
    throw inWords(error, databaseUrl);
  } finally {
    await patient.close();
  }
}

/** Encodings that have every letter. In another, a name with a letter that it lacks would be answered with 500. */
const ENCODINGS = ["UTF8", "SQL_ASCII"];

async function refuseEncoding({ db }: Storage, databaseUrl: string): Promise<void> {
  const asked = sql<string>`current_setting('server_encoding')`.as("encoding");
  const { encoding } = await db.selectNoFrom(asked).executeTakeFirstOrThrow();
  if (ENCODINGS.includes(encoding)) return;
  throw operatorFault(
    `the database ${describeUrl(databaseUrl)} is encoded in ${encoding}, which has not every letter that names are written with. ` +
      "`createdb --encoding=UTF8 --locale=C.UTF-8 --template=template0` makes one that has.",
  );
}

/** Invalid authorisation (28), no such database (3D), no permission (42501); certificates and their files. */
const REFUSED = /^(28...|3D...|42501|ENOENT|EACCES)$|CERT|^UNABLE_TO_|^ERR_(SSL|TLS)_/;
const NO_TLS = "The server does not support SSL connections";
/** The driver's words for an address without a password, which the server asks for. */
const NO_PASSWORD = /^SASL: .* client password must be /;

/** An operator's most frequent faults, with the setting's name. Never the URL, which has the password. */
export function inWords(error: unknown, databaseUrl: string, name = "LATCHKEY_DATABASE_URL"): unknown {
  if (isOperatorFault(error) || databaseUrl.startsWith("sqlite:")) return error;
  const { code, message } = error as Error & { code?: string };
  const isAskedFor = NO_PASSWORD.test(message);
  if (!REFUSED.test(code ?? "") && message !== NO_TLS && !isAskedFor && !isUnavailable(error)) return error;
  const { host, pathname } = new URL(databaseUrl);
  const why = isAskedFor ? "the server asks for a password, and the address has none" : message;
  return operatorFault(`cannot use the database ${pathname.slice(1)} at ${host} (${name}): ${why}`, error);
}
