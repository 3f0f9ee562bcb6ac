import { getApplicationKey } from "../../application-keys/application-key.ts";
import { applicationKeyResource as presentKey } from "../../application-keys/resource.ts";
import { limits } from "../../contract/limits.ts";
import { createStore } from "../../create-store.ts";
import { deleteStore } from "../../delete-store.ts";
import { byOperator } from "../../events/event.ts";
import { toIso } from "../../lib/clock.ts";
import { isId } from "../../lib/ids.ts";
import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import { updateStoreAsOperator } from "../../stores/administer.ts";
import { storeResource } from "../../stores/resource.ts";
import { findStoreOfOperator, isBeingDeleted, listStores, type Store } from "../../stores/store.ts";
import { ifGiven, readName, readWhole } from "../options.ts";
import { createProgress } from "../progress.ts";
import { confirm } from "./confirm.ts";
import { NO_STORES, requireStore } from "./require-store.ts";
import { type PageGiven, printAnswer, printList, printOne, readLimit, unfitCursor } from "./show-list.ts";
import { withStorage } from "./with-storage.ts";

type JsonFlag = { json: boolean };
type LimitOptions = Record<
  "rate-limit" | "max-rate-limit" | "sign-ups-per-network" | "sign-ups-per-hour",
  string | undefined
>;

export async function createOne(
  given: JsonFlag & LimitOptions & { name: string; "rate-limit": string },
): Promise<void> {
  const name = readName(given.name);
  const rateLimit = readWhole(given["rate-limit"], "--rate-limit", 1);
  const maxRateLimit = ifGiven(given["max-rate-limit"], (text) =>
    readWhole(text, "--max-rate-limit", rateLimit),
  );
  const signUps = readSignUps(given);
  const { store, key, secret } = await withStorage(
    async (deps) => {
      const wanted = { name, rate_limit: rateLimit, max_rate_limit: maxRateLimit, ...signUps };
      const { store, key } = await createStore(deps, wanted);
      return { store, key: await getApplicationKey(deps, store.id, key.id), secret: key.clientSecret };
    },
    { mayCreate: true },
  );
  printAnswer(
    given.json,
    { store: toJson(store), application_key: { ...presentKey(key), client_secret: secret } },
    `store          ${store.id}  ${store.name}, ${store.rate_limit} requests per second
client id      ${key.client_id}
client secret  ${secret}

The secret is not shown again.`,
  );
}

export async function list(given: JsonFlag & PageGiven): Promise<void> {
  const limit = readLimit(given);
  if (given.after !== undefined && !isId(given.after)) throw unfitCursor();
  const found = await withStorage(({ storage }) =>
    listStores(storage, { limit: limit + 1, after: given.after }),
  );
  printStores(found.slice(0, limit), given, found.length > limit ? found[limit - 1]?.id : undefined);
}

export async function show({ argument, json }: JsonFlag & { argument: string }): Promise<void> {
  const store = await withStorage((deps) => requireStore(deps, argument));
  printOne(
    json,
    { store: toJson(store) },
    {
      id: store.id,
      name: store.name,
      limit: `${store.rate_limit} requests per second`,
      reserved: `${store.total_reserved_rate_limit} by its keys`,
      "at most": `${store.max_rate_limit}, if its administrators raise the limit`,
      "sign-ups": `${store.sign_ups_per_network} in an hour from one network, ${store.sign_ups_per_hour} in all, with public tokens`,
      created: toIso(store.created_at),
      updated: toIso(store.updated_at),
    },
  );
}

export async function update(
  given: JsonFlag & LimitOptions & { id: string; name: string | undefined },
): Promise<void> {
  const { id } = given;
  const change = {
    name: ifGiven(given.name, readName),
    rate_limit: ifGiven(given["rate-limit"], (text) => readWhole(text, "--rate-limit", 1)),
    max_rate_limit: ifGiven(given["max-rate-limit"], (text) => readWhole(text, "--max-rate-limit", 1)),
    ...readSignUps(given),
  };
  if (Object.values(change).every((value) => value === undefined))
    throw usageFault(
      "nothing to change: give --name, --rate-limit, --max-rate-limit, --sign-ups-per-network or --sign-ups-per-hour",
    );
  const updated = await withStorage(async (deps) => {
    const { rate_limit: rateLimit } = await requireStore(deps, id);
    const { max_rate_limit: ceiling } = change;
    if (change.rate_limit === undefined && ceiling !== undefined && ceiling < rateLimit)
      throw operatorFault(`the store's limit is ${rateLimit}, above ${ceiling}: lower --rate-limit too`);
    return updateStoreAsOperator(deps, byOperator(id), change);
  });
  if (given.json) console.log(JSON.stringify({ store: toJson(updated) }));
  else printStores([updated], { json: false, after: undefined }, undefined);
}

export async function remove({ id, yes, json }: JsonFlag & { id: string; yes: boolean }): Promise<void> {
  const store = await withStorage(({ storage }) => findStoreOfOperator(storage, id));
  if (!store) throw operatorFault(`there is no store ${id}; \`latchkey store list\` shows them`);
  await confirm(
    `This deletes the store ${JSON.stringify(store.name)} with all its keys, customers and events, for good.`,
    yes,
  );
  const progress = createProgress(`deleting ${id}`);
  const deleted = await withStorage((deps) => deleteStore(deps, id, progress.show)).finally(progress.end);
  if (!deleted) throw operatorFault(`there is no store ${id}: another person has deleted it in the meantime`);
  printAnswer(json, { deleted: id, rows: deleted.rows }, `deleted ${id} with ${deleted.rows} rows`);
}

function readSignUps(given: LimitOptions) {
  const read = (option: keyof LimitOptions) =>
    ifGiven(given[option], (text) => readWhole(text, `--${option}`, 1, limits.signUps));
  return {
    sign_ups_per_network: read("sign-ups-per-network"),
    sign_ups_per_hour: read("sign-ups-per-hour"),
  };
}

const toJson = (store: Store) => ({
  ...storeResource(store),
  ...(isBeingDeleted(store) && { being_deleted: true }),
});

const printStores = (
  rows: Store[],
  given: JsonFlag & Pick<PageGiven, "after">,
  next: string | undefined,
): void =>
  printList({ rows: rows.map(toJson), next, empty: NO_STORES }, given, {
    name: "stores",
    head: ["id", "name", "limit/s", "at most/s", "reserved/s"],
    toCells: ({ id, name, rate_limit, meta, being_deleted }) => [
      id,
      being_deleted ? `${name} (being deleted: run store delete again)` : name,
      rate_limit,
      meta.max_rate_limit,
      meta.total_reserved_rate_limit,
    ],
  });
