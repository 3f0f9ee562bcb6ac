import { resolve } from "node:path";
import { refuseMissingFile } from "../../storage/open.ts";
import { backUp } from "../../storage/sqlite/backup.ts";
import { printAnswer } from "./show-list.ts";
import { chooseSqliteFile } from "./with-storage.ts";

export async function backup({ argument: file, json }: { argument: string; json: boolean }): Promise<void> {
  const path = chooseSqliteFile("pg_dump makes a backup of PostgreSQL");
  refuseMissingFile(path);
  backUp(path, file);
  printAnswer(json, { backup: resolve(file) }, `backed up to ${resolve(file)}`);
}
