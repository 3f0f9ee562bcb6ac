import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Demo } from "@latchkey/demo";
import { type Config, readConfig, readDatabaseUrl } from "../config.ts";
import { createStore } from "../create-store.ts";
import type { Clock } from "../lib/clock.ts";
import { startService } from "../main.ts";
import { takeLock } from "../storage/sqlite.ts";
import type { Storage } from "../storage/storage.ts";
import { DEFAULT_RATE_LIMIT, findStore } from "../stores/store.ts";
import { freePort } from "./free-port.ts";
import { readOptions } from "./options.ts";
import { stopOnSignal } from "./serve.ts";

const USAGE = `latchkey dev [--reset]

Runs everything on this machine: the service with a first store, a practice identity provider, and a demo storefront.
Prints their addresses and the store's credentials. Data is kept beside the database (./data unless
LATCHKEY_DATABASE_URL says otherwise); --reset begins anew.

Ports: PORT for the service (4000), then 4001 for the provider and 4002 for the storefront. One that is taken is replaced
by a free one, except PORT when you have set it.`;

type Credentials = { storeId: string; keyId: string; clientId: string; clientSecret: string };
type Ports = { service: number; idp: number; shop: number };

export async function dev(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, { reset: { type: "boolean" } });
  if (!options) return;
  const folder = prepareFolder(options.reset === true);
  const ports = await choosePorts(folder);
  const { LATCHKEY_MASTER_KEY, LATCHKEY_EGRESS_ALLOW } = process.env;
  const config = readConfig({
    LATCHKEY_LOG_LEVEL: "warn",
    PORT: String(ports.service),
    ...process.env,
    LATCHKEY_MASTER_KEY: LATCHKEY_MASTER_KEY || keptMasterKey(folder),
    LATCHKEY_EGRESS_ALLOW: [LATCHKEY_EGRESS_ALLOW, `http://localhost:${ports.idp}`].filter(Boolean).join(","),
  });
  let credentials: Credentials | undefined;
  const service = await startService(config, async (deps) => {
    credentials = await firstStore(deps, folder);
  });
  // Only now: a second start beside a running one is refused before, and leaves everything as it is.
  writeFileSync(portsFile(folder), JSON.stringify(ports));
  let demo: Demo | undefined;
  stopOnSignal(async () => {
    await demo?.close();
    await service.stop(0);
  });
  if (!credentials) return;
  // Only here: what serves in production does not know of the demo.
  const { startDemo } = await import("@latchkey/demo");
  demo = await startDemo({ apiUrl: config.publicUrl, ...credentials, ports });
  console.log(banner(config, credentials, demo));
}

/** The same as the last time if they are free: identities belong to the address of their provider. */
async function choosePorts(folder: string): Promise<Ports> {
  const file = portsFile(folder);
  const last: Partial<Ports> = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const service = process.env.PORT ? Number(process.env.PORT) : await freePort(last.service ?? 4000);
  const ports = {
    service,
    idp: await freePort(last.idp ?? (process.env.PORT ? 0 : 4001)),
    shop: await freePort(last.shop ?? (process.env.PORT ? 0 : 4002)),
  };
  return ports;
}

function prepareFolder(reset: boolean): string {
  const databaseUrl = readDatabaseUrl(process.env);
  const path = databaseUrl.startsWith("sqlite:") ? databaseUrl.slice("sqlite:".length) : ":memory:";
  const folder = path === ":memory:" ? "./data" : dirname(path);
  if (reset) {
    // Taken and let go: whoever serves these files keeps them.
    if (path !== ":memory:" && existsSync(path)) takeLock(path).close();
    const files = path === ":memory:" ? [] : [path, `${path}-wal`, `${path}-shm`, `${path}-serving`];
    for (const file of [...files, masterKeyFile(folder), credentialsFile(folder), portsFile(folder)])
      rmSync(file, { force: true });
  }
  mkdirSync(folder, { recursive: true });
  return folder;
}

const masterKeyFile = (folder: string): string => join(folder, "master.key");
const portsFile = (folder: string): string => join(folder, "ports.json");
const credentialsFile = (folder: string): string => join(folder, "first-store.json");

function keptMasterKey(folder: string): string {
  const file = masterKeyFile(folder);
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600 });
  return readFileSync(file, "utf8").trim();
}

/** Only hashes of secrets are in the database, so for practice the first store's are kept in a file of their own. */
async function firstStore(deps: { storage: Storage; clock: Clock }, folder: string): Promise<Credentials> {
  const file = credentialsFile(folder);
  if (existsSync(file)) {
    const kept: Credentials = JSON.parse(readFileSync(file, "utf8"));
    if (await findStore(deps.storage, kept.storeId)) return kept;
  }
  const { store, key } = await createStore(deps, { name: "Practice store", rateLimit: DEFAULT_RATE_LIMIT });
  const made = { storeId: store.id, keyId: key.id, clientId: key.clientId, clientSecret: key.clientSecret };
  writeFileSync(file, JSON.stringify(made, null, 2), { mode: 0o600 });
  return made;
}

function banner({ publicUrl }: Config, credentials: Credentials, demo: Demo): string {
  return `
  Latchkey runs. Open the shop and sign in:

    shop           ${demo.shopUrl}
    practice IdP   ${demo.knobsUrl}   (break it with a switch, and see what the shop says)
    service        ${publicUrl}
    API reference  ${publicUrl}/docs

    store          ${credentials.storeId}
    key            ${credentials.keyId}
    client id      ${credentials.clientId}
    client secret  ${credentials.clientSecret}

  Sign in with e-mail as dora@shop.example, practice-password. The README has commands to type.
  Ctrl-C stops it. Data is kept; \`npx latchkey dev --reset\` begins anew.
`;
}
