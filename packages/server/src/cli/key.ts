import { createApplicationKey, deleteApplicationKey } from "../application-keys/administer.ts";
import {
  type ApplicationKey,
  type KeyWithSecret,
  listApplicationKeys,
} from "../application-keys/application-key.ts";
import { rotateSecret } from "../application-keys/secret.ts";
import { limits } from "../contract/limits.ts";
import { byOperator } from "../events/event.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import type { Storage } from "../storage/storage.ts";
import { isHelp, pick, readName, readOptions, readRole, readWhole, required } from "./options.ts";
import { requireStore } from "./require-store.ts";
import { formatTable } from "./table.ts";
import { withStorage } from "./with-storage.ts";

const USAGE = `latchkey key create --store <store> --name <name> [--reserve <requests per second>] [--role <role>] [--json]
latchkey key list --store <store> [--json]
latchkey key rotate --store <store> --id <key> [--grace-seconds <seconds>] [--json]
latchkey key delete --store <store> --id <key> [--json]

--role is viewer, support or administrator (unless said otherwise): what the key's client_credentials tokens may do.
A secret is shown once, when it is made. After a rotation the older ones work for a day, or for --grace-seconds.`;

const actions: Record<string, (args: string[]) => Promise<void>> = { create, list, rotate, delete: remove };

export async function key([action, ...args]: string[]): Promise<void> {
  const act = pick(actions, action);
  if (act) return act(args);
  if (action !== undefined && !isHelp(action))
    throw operatorFault(`key cannot ${JSON.stringify(action)}\n\n${USAGE}`);
  console.log(USAGE);
}

async function create(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    store: { type: "string" },
    name: { type: "string" },
    reserve: { type: "string", default: "0" },
    role: { type: "string", default: "administrator" },
    json: { type: "boolean" },
  });
  if (!options) return;
  const change = {
    name: readName(options.name),
    reservedRateLimit: readWhole(options.reserve, "--reserve", 0),
    role: readRole(options.role),
  };
  const created = await ofStore(options.store, (deps, storeId) =>
    createApplicationKey(deps, byOperator(storeId), change),
  );
  printWithSecret(created, options.json);
}

async function list(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, { store: { type: "string" }, json: { type: "boolean" } });
  if (!options) return;
  const keys = await ofStore(options.store, listAll);
  if (options.json) {
    console.log(JSON.stringify({ application_keys: keys.map(toJson) }));
    return;
  }
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.clientId,
    key.role,
    key.reservedRateLimit,
    lastUsed(key),
  ]);
  console.log(formatTable(["id", "name", "client id", "role", "reserved/s", "last used"], rows));
}

async function rotate(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    store: { type: "string" },
    id: { type: "string" },
    "grace-seconds": { type: "string" },
    json: { type: "boolean" },
  });
  if (!options) return;
  const keyId = required(options.id, "--id");
  const grace = options["grace-seconds"];
  const seconds = grace === undefined ? undefined : Number(grace);
  if (
    seconds !== undefined &&
    !(Number.isInteger(seconds) && seconds >= 0 && seconds <= limits.graceSeconds)
  ) {
    throw operatorFault(`--grace-seconds must be a whole number from 0 to ${limits.graceSeconds}`);
  }
  printWithSecret(
    await ofStore(options.store, (deps, storeId) => rotateSecret(deps, byOperator(storeId), keyId, seconds)),
    options.json,
  );
}

async function remove(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    store: { type: "string" },
    id: { type: "string" },
    json: { type: "boolean" },
  });
  if (!options) return;
  const keyId = required(options.id, "--id");
  await ofStore(options.store, (deps, storeId) => deleteApplicationKey(deps, byOperator(storeId), keyId));
  console.log(options.json ? JSON.stringify({ deleted: keyId }) : `deleted ${keyId}`);
}

type Deps = { storage: Storage; clock: Clock };

function ofStore<T>(
  storeId: string | undefined,
  work: (deps: Deps, storeId: string) => Promise<T>,
): Promise<T> {
  const id = required(storeId, "--store");
  return withStorage(async (deps) => {
    await requireStore(deps, id);
    return work(deps, id);
  });
}

async function listAll(deps: Deps, storeId: string): Promise<ApplicationKey[]> {
  const keys: ApplicationKey[] = [];
  let after: string | undefined;
  do {
    const list = await listApplicationKeys(deps, storeId, { limit: limits.pageSize, offset: 0, after });
    keys.push(...list.keys);
    after = list.place.next?.after;
  } while (after !== undefined);
  return keys;
}

const lastUsed = ({ lastUsedAt }: ApplicationKey): string =>
  lastUsedAt === null ? "never" : toIso(lastUsedAt);

const toJson = (key: ApplicationKey) => ({
  id: key.id,
  name: key.name,
  client_id: key.clientId,
  reserved_rate_limit: key.reservedRateLimit,
  role: key.role,
});

function printWithSecret({ key, clientSecret }: KeyWithSecret, json: boolean | undefined): void {
  if (json) {
    console.log(JSON.stringify({ application_key: { ...toJson(key), client_secret: clientSecret } }));
    return;
  }
  console.log(`key            ${key.id}  ${key.name}, ${key.role}, ${key.reservedRateLimit} requests per second reserved
client id      ${key.clientId}
client secret  ${clientSecret}

The secret is not shown again.`);
}
