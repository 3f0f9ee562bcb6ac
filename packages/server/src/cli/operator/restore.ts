import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { steadyClock, toIso } from "../../lib/clock.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { toRealPath } from "../../lib/real-path.ts";
import type { CarriedOver } from "../../restore/carry-over.ts";
import type { Deps } from "../../restore/replaced.ts";
import { openStorage } from "../../storage/open.ts";
import { prepareCopy, removeDatabase, takePlace } from "../../storage/sqlite/backup.ts";
import { makeFolder, takeLock } from "../../storage/sqlite/files.ts";
import { carryFrom, NOT_THE_SAME } from "./after-restore.ts";
import { describeRestored, endAll, restoredAsJson } from "./report-restore.ts";
import { chooseSqliteFile } from "./with-storage.ts";

type RestoreOptions = { argument: string; "ignore-current": boolean; json: boolean };

export async function restore(given: RestoreOptions): Promise<void> {
  const { argument: file, json } = given;
  const path = toRealPath(
    chooseSqliteFile("restore PostgreSQL with its own tools, then run `latchkey after-restore`"),
  );
  if (!statSync(file, { throwIfNoEntry: false })) throw operatorFault(`there is no file ${file}`);
  if (resolve(toRealPath(file)) === resolve(path)) throw operatorFault(`${file} is the database itself`);
  makeFolder(dirname(path));
  const lock = takeLock(path, "Stop the service first.");
  try {
    const restored = await replace(path, file, given["ignore-current"]);
    console.log(json ? JSON.stringify(toJson(path, file, restored)) : describe(path, file, restored));
  } finally {
    lock.close();
  }
}

/** All work is done on a copy of the backup, which replaces the database at the end in one step. */
async function replace(path: string, file: string, isIgnored: boolean) {
  const hadOne = existsSync(path);
  const copy = prepareCopy(file, path);
  try {
    const clock = steadyClock();
    const storage = await openStorage({ clock }, `sqlite:${copy}`);
    const deps = { storage, clock };
    try {
      const carried = hadOne && !isIgnored ? await tryCarry(deps, path) : undefined;
      const restored = await endAll(deps, carried);
      await storage.close();
      const keptAs = `${path}.replaced-${toIso(clock.now()).replaceAll(/[-:]|\.\d+/g, "")}`;
      takePlace(copy, path, keptAs);
      return { ...restored, keptAs: hadOne ? keptAs : undefined };
    } finally {
      await storage.close();
    }
  } finally {
    removeDatabase(copy);
  }
}

/** A damaged database is a good reason to restore; the rights that cannot be read from it are not taken over. */
async function tryCarry(deps: Deps, path: string): Promise<CarriedOver | undefined> {
  try {
    const carried = await carryFrom(deps, `sqlite:${path}`);
    if (!carried) console.error(`${NOT_THE_SAME}: nothing was carried over`);
    return carried;
  } catch (error) {
    console.error(`the replaced database cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}

type Replacement = Awaited<ReturnType<typeof replace>>;

const describe = (path: string, file: string, { keptAs, ...restored }: Replacement): string =>
  [
    `restored ${path} from ${file}`,
    ...(keptAs ? [`the replaced database is kept as ${keptAs}`] : []),
    describeRestored(restored),
  ].join("\n");

const toJson = (path: string, file: string, { keptAs, ...restored }: Replacement) => ({
  restored: resolve(path),
  from: resolve(file),
  kept_as: keptAs === undefined ? null : resolve(keptAs),
  ...restoredAsJson(restored),
});
