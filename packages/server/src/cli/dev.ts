import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Config, readConfig, readDatabaseUrl } from "../config.ts";
import { createStore } from "../create-store.ts";
import type { Clock } from "../lib/clock.ts";
import { startService } from "../main.ts";
import { takeLock } from "../storage/sqlite.ts";
import type { Storage } from "../storage/storage.ts";
import { DEFAULT_RATE_LIMIT, findStore } from "../stores/store.ts";
import { readOptions } from "./options.ts";
import { stopOnSignal } from "./serve.ts";

const USAGE = `latchkey dev [--reset]

Runs the service with a first store, and prints that store's credentials. Everything is kept beside the database
(./data unless LATCHKEY_DATABASE_URL says otherwise); --reset begins anew.`;

type Credentials = { storeId: string; keyId: string; clientId: string; clientSecret: string };

export async function dev(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, { reset: { type: "boolean" } });
  if (!options) return;
  const folder = prepareFolder(options.reset === true);
  const config = readConfig({
    LATCHKEY_LOG_LEVEL: "warn",
    ...process.env,
    LATCHKEY_MASTER_KEY: process.env.LATCHKEY_MASTER_KEY || keptMasterKey(folder),
  });
  let credentials: Credentials | undefined;
  const service = await startService(config, async (deps) => {
    credentials = await firstStore(deps, folder);
  });
  if (credentials) console.log(banner(config, credentials));
  stopOnSignal(() => service.stop(0));
}

function prepareFolder(reset: boolean): string {
  const databaseUrl = readDatabaseUrl(process.env);
  const path = databaseUrl.startsWith("sqlite:") ? databaseUrl.slice("sqlite:".length) : ":memory:";
  const folder = path === ":memory:" ? "./data" : dirname(path);
  if (reset) {
    // Taken and let go: whoever serves these files keeps them.
    if (path !== ":memory:" && existsSync(path)) takeLock(path).close();
    const files = path === ":memory:" ? [] : [path, `${path}-wal`, `${path}-shm`, `${path}-serving`];
    for (const file of [...files, masterKeyFile(folder), credentialsFile(folder)])
      rmSync(file, { force: true });
  }
  mkdirSync(folder, { recursive: true });
  return folder;
}

const masterKeyFile = (folder: string): string => join(folder, "master.key");
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

function banner({ publicUrl }: Config, { storeId, keyId, clientId, clientSecret }: Credentials): string {
  return `
  Latchkey runs at ${publicUrl}

    API reference  ${publicUrl}/docs
    store          ${storeId}
    client id      ${clientId}
    client secret  ${clientSecret}

  Get an access token:

    TOKEN=$(curl -s ${publicUrl}/oauth/access_token -d grant_type=client_credentials \\
      -d client_id=${clientId} \\
      -d client_secret=${clientSecret} \\
      | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

  Rename the application key, and reserve 20 requests per second for it:

    curl -s -X PUT ${publicUrl}/v2/application-keys/${keyId} \\
      -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
      -d '{"data":{"type":"application_key","name":"My storefront","reserved_rate_limit":20}}'

  List the store's application keys:

    curl -s ${publicUrl}/v2/application-keys -H "Authorization: Bearer $TOKEN"

  Ctrl-C stops it. Data is kept; \`npx latchkey dev --reset\` begins anew.
`;
}
