import { createInterface } from "node:readline/promises";
import { operatorFault } from "../../lib/operator-fault.ts";

/** Prints what will happen, and continues only with --yes or with an agreement on the terminal. */
export async function confirm(
  what: string,
  isAgreed: boolean,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  console.error(what);
  if (isAgreed) return;
  if (!input.isTTY) throw operatorFault("nothing was changed; add --yes to do it without being asked");
  const terminal = createInterface({ input, output });
  const answer = await terminal
    .question("Type yes to go on: ")
    // Ctrl-C or Ctrl-D: no answer, and the cursor is still behind the question.
    .catch(() => void output.write("\n"))
    .finally(() => terminal.close());
  if (answer?.trim() !== "yes") throw operatorFault("nothing was changed");
}

type Terminal = { input: NodeJS.ReadableStream & { isTTY?: boolean }; output: NodeJS.WritableStream };
