import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "../../application-keys/administer.ts";
import { getApplicationKey } from "../../application-keys/application-key.ts";
import { listApplicationKeys, showApplicationKey } from "../../application-keys/resource.ts";
import { rotateSecret } from "../../application-keys/secret.ts";
import { limits } from "../../contract/limits.ts";
import { byOperator } from "../../events/event.ts";
import { usageFault } from "../../lib/operator-fault.ts";
import { ifGiven, readName, readOpenidClient, readRole, readWhole } from "../options.ts";
import { confirm } from "./confirm.ts";
import { type FromStore, fromStore } from "./require-store.ts";
import { listFromStore, type PageGiven, printAnswer, printOne, rowsOf } from "./show-list.ts";

type KeyOptions = Record<"name" | "reserve" | "role" | "openid-client", string>;

export async function create(given: FromStore & KeyOptions): Promise<void> {
  const change = {
    name: readName(given.name),
    reserved_rate_limit: readWhole(given.reserve, "--reserve", 0),
    role: readRole(given.role),
    openid_client: readOpenidClient(given["openid-client"]),
  };
  const created = await fromStore(given.store, (deps, storeId) =>
    createApplicationKey(deps, byOperator(storeId), change),
  );
  printWithSecret(created.data, given.json);
}

export const list = (given: FromStore & PageGiven): Promise<void> =>
  listFromStore(
    given,
    async (deps, storeId, page) => ({
      ...rowsOf(await listApplicationKeys(deps, storeId, page)),
      empty: `this store has no keys; \`latchkey key create --store ${storeId} --name <name>\` makes one`,
    }),
    {
      name: "application_keys",
      head: ["id", "name", "client id", "role", "reserved/s", "last used"],
      toCells: (key) => [
        key.id,
        key.name,
        key.client_id,
        key.role,
        key.reserved_rate_limit,
        key.meta.timestamps.last_used_at ?? "never",
      ],
    },
  );

export async function show({ argument, store, json }: FromStore & { argument: string }): Promise<void> {
  const { data } = await fromStore(store, (deps, storeId) => showApplicationKey(deps, storeId, argument));
  print(data, json);
}

type KeyUpdateOptions = FromStore & { id: string } & { [Option in keyof KeyOptions]: string | undefined };

export async function update(given: KeyUpdateOptions): Promise<void> {
  const change = {
    name: ifGiven(given.name, readName),
    reserved_rate_limit: ifGiven(given.reserve, (text) => readWhole(text, "--reserve", 0)),
    role: ifGiven(given.role, readRole),
    openid_client: ifGiven(given["openid-client"], readOpenidClient),
  };
  if (Object.values(change).every((value) => value === undefined))
    throw usageFault("nothing to change: give --name, --reserve, --role or --openid-client");
  const updated = await fromStore(given.store, (deps, storeId) =>
    updateApplicationKey(deps, byOperator(storeId), given.id, change),
  );
  print(updated.data, given.json);
}

export async function rotate(given: FromStore & { id: string; "grace-seconds": string }): Promise<void> {
  const seconds = readWhole(given["grace-seconds"], "--grace-seconds", 0, limits.graceSeconds);
  const rotated = await fromStore(given.store, (deps, storeId) =>
    rotateSecret(deps, byOperator(storeId), given.id, seconds),
  );
  printWithSecret(rotated.data, given.json);
}

export async function remove(given: FromStore & { id: string; yes: boolean }): Promise<void> {
  const { store, id, yes, json } = given;
  await fromStore(store, async (deps, storeId) => {
    const { name } = await getApplicationKey(deps, storeId, id);
    await confirm(
      `This deletes the key ${JSON.stringify(name)}, for good. Programs that use it are refused within a second.`,
      yes,
    );
    await deleteApplicationKey(deps, byOperator(storeId), id);
  });
  printAnswer(json, { deleted: id }, `deleted ${id}`);
}

type ShownKey = Awaited<ReturnType<typeof showApplicationKey>>["data"];

const print = (key: ShownKey, json: boolean): void =>
  printOne(
    json,
    { application_key: key },
    {
      id: key.id,
      name: key.name,
      "client id": key.client_id,
      role: key.role,
      "openid client": key.openid_client,
      reserved: `${key.reserved_rate_limit} requests per second`,
      "last used": key.meta.timestamps.last_used_at ?? "never",
      created: key.meta.timestamps.created_at,
      updated: key.meta.timestamps.updated_at,
      ...Object.fromEntries(
        key.meta.secrets.map(({ created_at, last_used_at, expires_at }, index) => [
          `secret ${index + 1}`,
          `made ${created_at}, last used ${last_used_at ?? "never"}${expires_at === null ? "" : `, ends ${expires_at}`}`,
        ]),
      ),
    },
  );

const printWithSecret = (key: ShownKey & { client_secret: string }, json: boolean): void =>
  printAnswer(
    json,
    { application_key: key },
    `key            ${key.id}  ${key.name}, ${key.role}, ${key.reserved_rate_limit} requests per second reserved
client id      ${key.client_id}
client secret  ${key.client_secret}

The secret is not shown again.`,
  );
