import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "../../application-keys/administer.ts";
import {
  type ApplicationKey,
  getApplicationKey,
  type KeyWithSecret,
  listApplicationKeys,
} from "../../application-keys/application-key.ts";
import { applicationKeyResource } from "../../application-keys/resource.ts";
import { rotateSecret } from "../../application-keys/secret.ts";
import { limits } from "../../contract/limits.ts";
import { byOperator } from "../../events/event.ts";
import { toIso } from "../../lib/clock.ts";
import { usageFault } from "../../lib/operator-fault.ts";
import { ifGiven, readName, readOpenidClient, readRole, readWhole } from "../options.ts";
import { confirm } from "./confirm.ts";
import { fromStore } from "./require-store.ts";
import { type PageGiven, printList, printMembers, readPageGiven, refuseInWords } from "./show-list.ts";

type Json = { json: boolean };
type OfStore = Json & { store: string };
type FromStore = Json & { store: string | undefined };

export async function create(
  given: OfStore & { name: string; reserve: string; role: string; "openid-client": string },
): Promise<void> {
  const change = {
    name: readName(given.name),
    reservedRateLimit: readWhole(given.reserve, "--reserve", 0),
    role: readRole(given.role),
    openidClient: readOpenidClient(given["openid-client"]),
  };
  const created = await fromStore(given.store, (deps, storeId) =>
    createApplicationKey(deps, byOperator(storeId), change),
  );
  printWithSecret(created, given);
}

export async function list(given: FromStore & PageGiven): Promise<void> {
  const page = readPageGiven(given);
  const { keys, place, storeId } = await fromStore(given.store, async (deps, storeId) => ({
    ...(await refuseInWords(listApplicationKeys(deps, storeId, page))),
    storeId,
  }));
  printList(
    {
      name: "application_keys",
      rows: keys,
      present: applicationKeyResource,
      head: ["id", "name", "client id", "role", "reserved/s", "last used"],
      toCells: (key) => [
        key.id,
        key.name,
        key.client_id,
        key.role,
        key.reserved_rate_limit,
        whenUsed(key.last_used_at),
      ],
      empty: `this store has no keys; \`latchkey key create --store ${storeId} --name <name>\` makes one`,
      next: place.next?.after,
    },
    given,
  );
}

export async function show({ argument, store, json }: FromStore & { argument: string }): Promise<void> {
  print(await fromStore(store, (deps, storeId) => getApplicationKey(deps, storeId, argument)), json);
}

type Change = OfStore & { id: string } & Record<
    "name" | "reserve" | "role" | "openid-client",
    string | undefined
  >;

export async function update(given: Change): Promise<void> {
  const change = {
    name: ifGiven(given.name, readName),
    reservedRateLimit: ifGiven(given.reserve, (text) => readWhole(text, "--reserve", 0)),
    role: ifGiven(given.role, readRole),
    openidClient: ifGiven(given["openid-client"], readOpenidClient),
  };
  if (Object.values(change).every((value) => value === undefined))
    throw usageFault("nothing to change: say --name, --reserve, --role or --openid-client");
  const updated = await fromStore(given.store, (deps, storeId) =>
    updateApplicationKey(deps, byOperator(storeId), given.id, change),
  );
  print(updated, given.json);
}

export async function rotate(given: OfStore & { id: string; "grace-seconds": string }): Promise<void> {
  const seconds = readWhole(given["grace-seconds"], "--grace-seconds", 0, limits.graceSeconds);
  const rotated = await fromStore(given.store, (deps, storeId) =>
    rotateSecret(deps, byOperator(storeId), given.id, seconds),
  );
  printWithSecret(rotated, given);
}

export async function remove({
  store,
  id,
  yes,
  json,
}: OfStore & { id: string; yes: boolean }): Promise<void> {
  await fromStore(store, async (deps, storeId) => {
    const { name } = await getApplicationKey(deps, storeId, id);
    await confirm(
      `This deletes the key ${JSON.stringify(name)}, for good. Whoever uses it is refused within a second.`,
      yes,
    );
    await deleteApplicationKey(deps, byOperator(storeId), id);
  });
  console.log(json ? JSON.stringify({ deleted: id }) : `deleted ${id}`);
}

const whenUsed = (lastUsedAt: number | null): string => (lastUsedAt === null ? "never" : toIso(lastUsedAt));

function print(key: ApplicationKey, json: boolean): void {
  if (json) console.log(JSON.stringify({ application_key: applicationKeyResource(key) }));
  else printKey(key);
}

const printKey = (key: ApplicationKey): void =>
  printMembers({
    id: key.id,
    name: key.name,
    "client id": key.client_id,
    role: key.role,
    "openid client": key.openid_client,
    reserved: `${key.reserved_rate_limit} requests per second`,
    "last used": whenUsed(key.last_used_at),
    created: toIso(key.created_at),
    updated: toIso(key.updated_at),
    ...Object.fromEntries(
      key.secrets.map(({ createdAt, lastUsedAt, expiresAt }, index) => [
        `secret ${index + 1}`,
        `made ${toIso(createdAt)}, last used ${whenUsed(lastUsedAt)}${expiresAt === null ? "" : `, ends ${toIso(expiresAt)}`}`,
      ]),
    ),
  });

function printWithSecret({ key, clientSecret }: KeyWithSecret, { json }: Json): void {
  if (json) {
    console.log(
      JSON.stringify({ application_key: { ...applicationKeyResource(key), client_secret: clientSecret } }),
    );
    return;
  }
  console.log(`key            ${key.id}  ${key.name}, ${key.role}, ${key.reserved_rate_limit} requests per second reserved
client id      ${key.client_id}
client secret  ${clientSecret}

The secret is not shown again.`);
}
