import { setTimeout as sleep } from "node:timers/promises";
import { rotateSecret } from "../../application-keys/secret.ts";
import { readDatabaseUrl, readDatabaseUrlOf } from "../../config.ts";
import { byOperator } from "../../events/event.ts";
import type { Clock } from "../../lib/clock.ts";
import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import { type EndedRights, endWhatCameBack } from "../../restore/after-restore.ts";
import { type CarriedOver, carryOver } from "../../restore/carry-over.ts";
import { hasTables } from "../../storage/migrate.ts";
import {
  connectStorage,
  inWords,
  isSameDatabase,
  isSameServersDatabase,
  refuseMissingFile,
} from "../../storage/open.ts";
import { isStrange } from "../../storage/sqlite/backup.ts";
import type { Storage } from "../../storage/storage.ts";
import { ifGiven } from "../options.ts";
import { createProgress } from "../progress.ts";
import { formatTable } from "../table.ts";
import { confirm } from "./confirm.ts";
import { describeCarried, describeMayBeBack, findWhatMayBeBack, mayBeBackAsJson } from "./restored.ts";
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
    const mayBeBack = carried ? undefined : await findWhatMayBeBack(deps);
    const ended = await endAll(deps);
    const secrets = given["rotate-secrets"] ? await rotateAll(deps) : undefined;
    if (given.json) {
      console.log(
        JSON.stringify({
          ...endedAsJson(ended),
          carried_over: carried ?? null,
          may_be_back: mayBeBackAsJson(mayBeBack),
          secrets,
        }),
      );
      return;
    }
    console.log(describeEnded(ended));
    if (carried) console.log(describeCarried(carried));
    if (secrets) console.log(formatSecrets(secrets));
    if (mayBeBack) console.log(describeMayBeBack(mayBeBack));
  });
}

type Deps = { storage: Storage; clock: Clock };

/** Ends all earlier rights, and waits at most a second until new access tokens are valid. */
export async function endAll(deps: Deps): Promise<EndedRights> {
  const progress = createProgress("ending what came back");
  const ended = await endWhatCameBack(deps, (rows) => progress.show(rows, undefined)).finally(progress.end);
  await sleep(Math.max(0, ended.from - deps.clock.now()));
  return ended;
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

type NewSecret = { store_id: string; application_key_id: string; client_id: string; client_secret: string };

async function rotateAll(deps: CommandDeps): Promise<NewSecret[]> {
  // Keys of a store that is being deleted do not work, and cannot be changed.
  const keys = await deps.storage.db
    .selectFrom("application_keys")
    .select(["id", "store_id"])
    .where("store_id", "in", (of) => of.selectFrom("stores").select("id").where("deleted_at", "is", null))
    .orderBy("store_id")
    .orderBy("id")
    .execute();
  const secrets: NewSecret[] = [];
  for (const { id, store_id } of keys) {
    const { data } = await rotateSecret(deps, byOperator(store_id), id, 0);
    const { client_id, client_secret } = data;
    secrets.push({ store_id, application_key_id: id, client_id, client_secret });
  }
  return secrets;
}

const formatSecrets = (secrets: NewSecret[]): string =>
  formatTable(
    ["store", "key", "client id", "client secret"],
    secrets.map((secret) => Object.values(secret)),
  );

export const NOT_THE_SAME =
  "the replaced database is not the one that this backup was made from, or one of the two was restored since";

export const describeEnded = (ended: EndedRights): string =>
  `ended: every access token, ${ended.customer_tokens} customer tokens, ${ended.sign_ons} sign-ons under way, ` +
  `${ended.rotated_secrets} rotated-out secrets in their grace, ${ended.signing_keys} signing keys (the first use makes a new one)`;

export const endedAsJson = ({ from: _, ...ended }: EndedRights) => ({ ended });
