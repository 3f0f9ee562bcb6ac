import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestRun } from "./test-run.ts";

/** Records the operations and answers of the tests; scripts/check-observed.ts compares them with the contract. */
const FOLDER = fileURLToPath(new URL("../../../../node_modules/.cache/latchkey-observed", import.meta.url));

export const forgetObserved = (): void => rmSync(FOLDER, { recursive: true, force: true, maxRetries: 5 });

export const makeObservedFolder = (): unknown => mkdirSync(FOLDER, { recursive: true });

export function observe(operationId: string, answer: string): void {
  appendFileSync(join(FOLDER, `${process.pid}.txt`), `${operationId} ${answer}\n`);
}

export function readObserved(): Set<string> {
  return new Set(readdirSync(FOLDER).flatMap((file) => readFileSync(join(FOLDER, file), "utf8").split("\n")));
}

export const markObserved = (run: TestRun): void => writeFileSync(join(FOLDER, run), "");

export const hasRun = (run: TestRun): boolean => existsSync(join(FOLDER, run));
