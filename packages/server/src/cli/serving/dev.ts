import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Demo } from "@latchkey/demo";
import { type Config, isMasterKey, readConfig, readDatabaseUrl } from "../../config.ts";
import { limits } from "../../contract/limits.ts";
import { createStore } from "../../create-store.ts";
import type { Clock } from "../../lib/clock.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { startService } from "../../main.ts";
import { removeDatabase } from "../../storage/sqlite/backup.ts";
import { makeFolder, takeLock } from "../../storage/sqlite/files.ts";
import type { Storage } from "../../storage/storage.ts";
import { DEFAULT_RATE_LIMIT, findStore } from "../../stores/store.ts";
import { confirm } from "../operator/confirm.ts";
import { readJson } from "../read-json.ts";
import { ownAddressOf } from "../remote/own-address.ts";
import { freePort } from "./free-port.ts";
import { type Kept, nameKept, pathOf, placeOf } from "./kept-files.ts";
import { stopOnSignal } from "./stop.ts";

type PracticeCredentials = { storeId: string; keyId: string; clientId: string; clientSecret: string };
type Ports = { service: number; idp: number; shop: number };

export async function dev({ reset, yes }: { reset: boolean; yes: boolean }): Promise<void> {
  const kept = await prepareFiles(reset, yes);
  const ports = await choosePorts(kept?.ports);
  const { LATCHKEY_MASTER_KEY, LATCHKEY_EGRESS_ALLOW } = process.env;
  const config = readConfig({
    LATCHKEY_LOG_LEVEL: "warn",
    PORT: String(ports.service),
    ...process.env,
    LATCHKEY_MASTER_KEY: LATCHKEY_MASTER_KEY || chooseMasterKey(kept?.masterKey),
    LATCHKEY_EGRESS_ALLOW: [
      LATCHKEY_EGRESS_ALLOW,
      `http://localhost:${ports.idp}`,
      `http://localhost:${ports.shop}`,
    ]
      .filter(Boolean)
      .join(","),
  });
  let credentials: PracticeCredentials | undefined;
  const service = await startService(config, {
    prepare: async (deps) => {
      credentials = await firstStore(deps, kept?.credentials);
    },
  });
  let demo: Demo | undefined;
  stopOnSignal(async () => {
    await demo?.close();
    await service.stop(0);
  });
  if (!credentials) return;
  demo = await openShop(config, credentials, ports, kept).catch(async (error) => {
    await service.stop(0);
    throw error;
  });
  console.log(banner(config, credentials, demo, await hasConsole(config)));
}

async function openShop(
  config: Config,
  credentials: PracticeCredentials,
  ports: Ports,
  kept: Kept | undefined,
): Promise<Demo> {
  const { publicUrl } = config;
  // After these checks: a second start beside a running one is refused earlier, and changes nothing.
  keep(kept?.ports, JSON.stringify(ports));
  // Imported here only, so that a service in production does not load the demo.
  const { startDemo } = await import("@latchkey/demo");
  return startDemo({ apiUrl: publicUrl, ownUrl: reachedAt(config), ...credentials, ports }).catch(
    (cause: Error) => {
      if (isForNoBrowser(cause))
        throw operatorFault(
          `no browser opens a page at ${publicUrl}: its port is kept for another protocol. Choose another PORT (or LATCHKEY_PUBLIC_URL).`,
          cause,
        );
      throw operatorFault(
        `the practice shop cannot be set up at ${publicUrl} (LATCHKEY_PUBLIC_URL): ${cause.message} If its key is gone, ${howToBeginAnew()}.`,
        cause,
      );
    },
  );
}

/**
 * An https address is a proxy's. The proxy may start later and Node may not trust its certificate, so `dev` uses its
 * own port.
 */
const reachedAt = (config: Config): string =>
  config.publicUrl.startsWith("https:") ? ownAddressOf(config, config.port) : config.publicUrl;

/** fetch refuses these ports, as browsers do. */
const isForNoBrowser = (error: unknown): boolean =>
  error instanceof Error && (error.message === "bad port" || isForNoBrowser(error.cause));

const areCredentials = ({ storeId, keyId, clientId, clientSecret }: Record<string, unknown>): boolean =>
  [storeId, keyId, clientId, clientSecret].every((text) => typeof text === "string");

const arePorts = ({ service, idp, shop }: Record<string, unknown>): boolean =>
  [service, idp, shop].every((port) => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536);

/** The ports of the last start if they are free, because identities belong to the address of their provider. */
async function choosePorts(file: string | undefined): Promise<Ports> {
  const last = readWhole<Partial<Ports>>(file, arePorts, "Delete it, and free ports are chosen") ?? {};
  const { PORT, LATCHKEY_OPERATIONS_PORT } = process.env;
  const service = PORT ? Number(PORT) : await freePort(last.service ?? 4000);
  // The service listens later, and PORT may equal a port of the last start.
  const given = [service, Number(LATCHKEY_OPERATIONS_PORT)];
  const idp = await freePort(last.idp ?? (PORT ? 0 : 4001), given);
  const shop = await freePort(last.shop ?? (PORT ? 0 : 4002), [...given, idp]);
  return { service, idp, shop };
}

async function prepareFiles(reset: boolean, yes: boolean): Promise<Kept | undefined> {
  const databaseUrl = readDatabaseUrl(process.env);
  const kept = nameKept(databaseUrl);
  if (!kept) return undefined;
  const path = pathOf(databaseUrl);
  if (reset && path === undefined)
    throw operatorFault("--reset does not reset a PostgreSQL: nothing was changed");
  if (reset && path !== undefined) {
    // Takes the lock and releases it: throws while a service runs on these files.
    if (existsSync(path)) takeLock(path).close();
    // `dev` marks its databases by the credentials file beside them. Any other database may be real.
    if (existsSync(path) && !existsSync(kept.credentials))
      await confirm(`This deletes the database ${path}, which \`latchkey dev\` has not made.`, yes);
    removeDatabase(path);
    for (const file of [`${path}-serving`, ...Object.values(kept)]) rmSync(file, { force: true });
  }
  makeFolder(dirname(kept.ports));
  // Opening an SQLite file claims it. PostgreSQL may serve several, but a second practice shop would take over the
  // first one's.
  if (path === undefined) {
    const lock = takeLock(placeOf(databaseUrl), "Stop the other one first.");
    process.once("exit", () => lock.close());
  }
  return kept;
}

/** `dev` does not reset a PostgreSQL database, but deletes its own files. */
const howToBeginAnew = (): string =>
  pathOf(readDatabaseUrl(process.env)) === undefined
    ? "a database of another name begins anew"
    : "`latchkey dev --reset` begins anew";

const readKept = (file: string | undefined): string | undefined =>
  file !== undefined && existsSync(file) ? readFileSync(file, "utf8") : undefined;

/** A file kept as JSON. An edit or a full disk may have left other text. */
function readWhole<T>(
  file: string | undefined,
  isWhole: (read: Record<string, unknown>) => boolean,
  remedy: string,
): T | undefined {
  const text = readKept(file);
  if (text === undefined) return undefined;
  const read = readJson(text);
  if (read && isWhole(read)) return read as T;
  throw operatorFault(`${file} is damaged. ${remedy}; ${howToBeginAnew()}.`);
}

/** Readable by the owner only, and renamed into place when it is complete. */
function keep(file: string | undefined, text: string): void {
  if (file === undefined) return;
  const part = `${file}.part`;
  rmSync(part, { force: true });
  writeFileSync(part, text, { mode: 0o600 });
  renameSync(part, file);
}

function chooseMasterKey(file: string | undefined): string {
  const kept = readKept(file)?.trim();
  if (kept !== undefined && isMasterKey(kept)) return kept;
  if (kept !== undefined)
    throw operatorFault(
      `${file} is damaged, and what the database has sealed opens with no other key. Put it back from a copy; ${howToBeginAnew()}.`,
    );
  const made = randomBytes(32).toString("base64url");
  keep(file, made);
  return made;
}

/** The database has only hashes of secrets, so practice keeps the first store's credentials in a file. */
async function firstStore(
  deps: { storage: Storage; clock: Clock },
  file: string | undefined,
): Promise<PracticeCredentials> {
  const kept = readWhole<PracticeCredentials>(
    file,
    areCredentials,
    "Delete it, and another practice store is made",
  );
  if (kept && (await findStore(deps.storage, kept.storeId))) return kept;
  const { store, key } = await createStore(deps, {
    name: "Practice store",
    rate_limit: DEFAULT_RATE_LIMIT,
    // All shoppers and tests of a developer come from one address.
    sign_ups_per_network: limits.signUpsPerHour,
  });
  const made = { storeId: store.id, keyId: key.id, clientId: key.clientId, clientSecret: key.clientSecret };
  keep(file, JSON.stringify(made, null, 2));
  return made;
}

/** Whether this build has the console. */
const hasConsole = (config: Config): Promise<boolean> =>
  fetch(`${reachedAt(config)}/console/`).then(
    ({ ok }) => ok,
    () => false,
  );

/** An in-memory database is lost, and a PostgreSQL database is not reset. */
function whatStays(databaseUrl: string): string {
  if (databaseUrl === "sqlite::memory:") return "Nothing is kept: the database is in memory.";
  return databaseUrl.startsWith("sqlite:")
    ? "Data is kept; `npx latchkey dev --reset` begins anew."
    : "Data is kept.";
}

function banner(
  { publicUrl, databaseUrl }: Config,
  credentials: PracticeCredentials,
  { shopUrl, knobsUrl, hooksUrl, members }: Demo,
  withConsole: boolean,
): string {
  const people = members.map(({ name, role }) => `${name} (${role})`).join(" or ");
  const consoleLines = withConsole
    ? `\n    console        ${publicUrl}/console/\n                   (sign in as ${people}, or with the credentials below)`
    : "";
  return `
  Latchkey runs. Open the shop and sign in:

    shop           ${shopUrl}${consoleLines}
    practice IdP   ${knobsUrl}   (break it with a switch, and see what the shop says)
    webhooks       ${hooksUrl}   (what the shop's other services hear, as it comes)
    service        ${publicUrl}
    API reference  ${publicUrl}/docs

    store          ${credentials.storeId}
    key            ${credentials.keyId}
    client id      ${credentials.clientId}
    client secret  ${credentials.clientSecret}

  Sign in with e-mail as dora@shop.example, practice-password. The README has commands to type.
  Ctrl-C stops it. ${whatStays(databaseUrl)}
`;
}
