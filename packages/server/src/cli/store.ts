import { createStore } from "../create-store.ts";
import { deleteStore } from "../delete-store.ts";
import { byOperator } from "../events/event.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { updateStoreAsOperator } from "../stores/administer.ts";
import { DEFAULT_RATE_LIMIT, listStores, type Store } from "../stores/store.ts";
import { isHelp, pick, readName, readOptions, readWhole, required } from "./options.ts";
import { createProgress } from "./progress.ts";
import { requireStore } from "./require-store.ts";
import { formatTable } from "./table.ts";
import { withStorage } from "./with-storage.ts";

const USAGE = `latchkey store create --name <name> [--rate-limit <requests per second>] [--max-rate-limit <n>] [--json]
latchkey store list [--json]
latchkey store update --id <store> [--name <name>] [--rate-limit <n>] [--max-rate-limit <n>] [--json]
latchkey store delete --id <store> --yes [--json]

A new store gets its first application key, whose secret is shown once.

A store's administrators can change its limit themselves, up to --max-rate-limit. That is the limit at creation, unless
you say otherwise; a --rate-limit above it raises it. To lower it below the limit, lower both at once.

delete: tokens and keys of the store are dead at once; then its rows go in batches, while the service runs. It may be
interrupted: the same command goes on.`;

const actions: Record<string, (args: string[]) => Promise<void>> = {
  create,
  list,
  update,
  delete: remove,
};

export async function store([action, ...args]: string[]): Promise<void> {
  const act = pick(actions, action);
  if (act) return act(args);
  if (action !== undefined && !isHelp(action))
    throw operatorFault(`store cannot ${JSON.stringify(action)}\n\n${USAGE}`);
  console.log(USAGE);
}

async function create(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    name: { type: "string" },
    "rate-limit": { type: "string", default: String(DEFAULT_RATE_LIMIT) },
    "max-rate-limit": { type: "string" },
    json: { type: "boolean" },
  });
  if (!options) return;
  const name = readName(options.name);
  const rateLimit = readWhole(options["rate-limit"], "--rate-limit", 1);
  const maxRateLimit = readWholeIfGiven(options["max-rate-limit"], "--max-rate-limit", rateLimit);
  const wanted = { name, rateLimit, maxRateLimit };
  const created = await withStorage((deps) => createStore(deps, wanted), { mayCreate: true });
  const { store, key } = created;
  if (options.json) {
    const application_key = { id: key.id, client_id: key.clientId, client_secret: key.clientSecret };
    console.log(JSON.stringify({ store: toJson(store), application_key }));
    return;
  }
  console.log(`store          ${store.id}  ${store.name}, ${store.rateLimit} requests per second
client id      ${key.clientId}
client secret  ${key.clientSecret}

The secret is not shown again.`);
}

async function list(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, { json: { type: "boolean" } });
  if (!options) return;
  const stores = await withStorage(({ storage }) => listStores(storage));
  if (options.json) console.log(JSON.stringify({ stores: stores.map(toJson) }));
  else printStores(stores);
}

async function update(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    id: { type: "string" },
    name: { type: "string" },
    "rate-limit": { type: "string" },
    "max-rate-limit": { type: "string" },
    json: { type: "boolean" },
  });
  if (!options) return;
  const id = required(options.id, "--id");
  if ([options.name, options["rate-limit"], options["max-rate-limit"]].every((given) => given === undefined))
    throw operatorFault("nothing to change: say --name, --rate-limit or --max-rate-limit");
  const change = {
    name: options.name === undefined ? undefined : readName(options.name),
    rateLimit: readWholeIfGiven(options["rate-limit"], "--rate-limit", 1),
    maxRateLimit: readWholeIfGiven(options["max-rate-limit"], "--max-rate-limit", 1),
  };
  const updated = await withStorage(async (deps) => {
    const { rateLimit } = await requireStore(deps, id);
    const { maxRateLimit } = change;
    if (change.rateLimit === undefined && maxRateLimit !== undefined && maxRateLimit < rateLimit)
      throw operatorFault(`the store's limit is ${rateLimit}, above ${maxRateLimit}: lower --rate-limit too`);
    return updateStoreAsOperator(deps, byOperator(id), change);
  });
  if (options.json) console.log(JSON.stringify({ store: toJson(updated) }));
  else printStores([updated]);
}

async function remove(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    id: { type: "string" },
    yes: { type: "boolean" },
    json: { type: "boolean" },
  });
  if (!options) return;
  const id = required(options.id, "--id");
  if (!options.yes)
    throw operatorFault("this deletes the store with all its keys, for good; say --yes if you mean it");
  const progress = createProgress(`deleting ${id}`);
  const deleted = await withStorage((deps) => deleteStore(deps, id, progress.show)).finally(progress.end);
  if (!deleted) throw operatorFault(`there is no store ${id}`);
  console.log(
    options.json
      ? JSON.stringify({ deleted: id, rows: deleted.rows })
      : `deleted ${id} with ${deleted.rows} rows`,
  );
}

const readWholeIfGiven = (text: string | undefined, option: string, least: number): number | undefined =>
  text === undefined ? undefined : readWhole(text, option, least);

const toJson = (store: Store) => ({
  id: store.id,
  name: store.name,
  rate_limit: store.rateLimit,
  max_rate_limit: store.maxRateLimit,
  ...(store.isBeingDeleted && { being_deleted: true }),
});

const printStores = (stores: Store[]): void =>
  console.log(
    formatTable(
      ["id", "name", "limit/s", "at most/s", "reserved/s"],
      stores.map((store) => [
        store.id,
        store.isBeingDeleted ? `${store.name} (being deleted: run store delete again)` : store.name,
        store.rateLimit,
        store.maxRateLimit,
        store.totalReserved,
      ]),
    ),
  );
