import { rotateSecret } from "../../application-keys/secret.ts";
import { readDatabaseUrl, readDatabaseUrlOf } from "../../config.ts";
import { byOperator } from "../../events/event.ts";
import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import { type CarriedOver, carryOver } from "../../restore/carry-over.ts";
import type { Deps } from "../../restore/replaced.ts";
import { hasTables } from "../../storage/migrate.ts";
import {
  connectStorage,
  inWords,
  isSameDatabase,
  isSameServersDatabase,
  refuseMissingFile,
} from "../../storage/open.ts";
import { isStrange } from "../../storage/sqlite/backup.ts";
import { ifGiven } from "../options.ts";
import { formatTable } from "../table.ts";
import { confirm } from "./confirm.ts";
import { describeRestored, endAll, restoredAsJson } from "./report-restore.ts";
import { printAnswer } from "./show-list.ts";
import { type CommandDeps, withStorage } from "./with-storage.ts";

type AfterRestoreOptions = {
  replaced: string | undefined;
  "rotate-secrets": boolean;
  yes: boolean;
  json: boolean;
};

export async function afterRestore(given: AfterRestoreOptions): Promise<void> {
  const replaced = ifGiven(given.replaced, (url) => readDatabaseUrlOf("--replaced", url));
  if (replaced !== undefined && isSameDatabase(replaced, readDatabaseUrl(process.env)))
    throw usageFault(ITSELF);
  await withStorage(async (deps) => {
    if (given["rotate-secrets"])
      await confirm(
        "This gives every application key of every store a new secret. Programs with the old ones are refused at once.",
        given.yes,
      );
    const carried = replaced === undefined ? undefined : await carryFrom(deps, replaced);
    // The carry-over comes first: the changes below make the two databases differ for good, so the right database would
    // be refused.
    if (replaced !== undefined && !carried)
      throw operatorFault(`${NOT_THE_SAME}. Nothing was changed; without --replaced nothing is carried over`);
    const restored = await endAll(deps, carried);
    const secrets = given["rotate-secrets"] ? await rotateAll(deps) : undefined;
    const rows = secrets?.map((secret) => Object.values(secret));
    const table = rows && formatTable(["store", "key", "client id", "client secret"], rows);
    printAnswer(given.json, { ...restoredAsJson(restored), secrets }, describeRestored(restored, table));
  });
}

/** The rights taken over; undefined when the backup was not made from that database. */
export async function carryFrom(deps: Deps, replacedUrl: string): Promise<CarriedOver | undefined> {
  if (replacedUrl.startsWith("sqlite:")) {
    const path = replacedUrl.slice("sqlite:".length);
    refuseMissingFile(path, "--replaced says which one is meant");
    if (isStrange(path)) return undefined;
  }
  const replaced = await connectStorage(replacedUrl);
  try {
    await hasTables(replaced).catch((error) => {
      throw inWords(error, replacedUrl, "--replaced");
    });
    if (await isSameServersDatabase(deps.storage, replaced)) throw usageFault(ITSELF);
    return await carryOver(deps, replaced);
  } finally {
    await replaced.close();
  }
}

const ITSELF = "--replaced names the database itself, and not the one that was there before the restore";

async function rotateAll(deps: CommandDeps) {
  // Keys of a store that is being deleted do not work, and cannot be changed.
  const keys = await deps.storage.db
    .selectFrom("application_keys")
    .select(["id", "store_id"])
    .where("store_id", "in", (of) => of.selectFrom("stores").select("id").where("deleted_at", "is", null))
    .orderBy("store_id")
    .orderBy("id")
    .execute();
  const secrets = [];
  for (const { id, store_id } of keys) {
    const { client_id, client_secret } = (await rotateSecret(deps, byOperator(store_id), id, 0)).data;
    secrets.push({ store_id, application_key_id: id, client_id, client_secret });
  }
  return secrets;
}

export const NOT_THE_SAME =
  "the replaced database is not the one that this backup was made from, or one of the two was restored since";
