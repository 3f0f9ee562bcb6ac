import { resolve } from "node:path";
import { operatorFault } from "../lib/operator-fault.ts";
import { backUp } from "../storage/backup.ts";
import { refuseMissingFile } from "../storage/open.ts";
import { readOptions, takeArgument } from "./options.ts";
import { chooseSqliteFile } from "./with-storage.ts";

const USAGE = `latchkey backup <file> [--json]

Copies the SQLite database into a new file, as it is at this moment, while the service runs. Overwrites nothing. The file
holds hashes and sealed secrets: keep it as you keep the database, and LATCHKEY_MASTER_KEY in another place.
On PostgreSQL, use its own tools (pg_dump, or an archive of its log); after a restore run \`latchkey after-restore\`.`;

export async function backup(args: string[]): Promise<void> {
  const [file, rest] = takeArgument(args);
  const options = readOptions(USAGE, rest, { json: { type: "boolean" } });
  if (!options) return;
  if (!file) throw operatorFault(`into which file?\n\n${USAGE}`);
  const path = chooseSqliteFile("pg_dump makes a backup of PostgreSQL");
  refuseMissingFile(path);
  backUp(path, file);
  console.log(options.json ? JSON.stringify({ backup: resolve(file) }) : `backed up to ${resolve(file)}`);
}
