import { createInterface } from "node:readline/promises";
import { operatorFault } from "../lib/operator-fault.ts";

/** Says what is about to be done, and goes on only if it was asked for with --yes or is agreed to on the terminal. */
export async function confirm(what: string, isAgreed: boolean): Promise<void> {
  console.error(what);
  if (isAgreed) return;
  if (!process.stdin.isTTY) throw operatorFault("nothing was changed; say --yes if you mean it");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question("Type yes to go on: ").finally(() => terminal.close());
  if (answer.trim() !== "yes") throw operatorFault("nothing was changed");
}
