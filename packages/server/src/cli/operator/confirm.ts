import { createInterface } from "node:readline/promises";
import { operatorFault } from "../../lib/operator-fault.ts";

/** Says what is about to be done, and goes on only if it was asked for with --yes or is agreed to on the terminal. */
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
    // Ctrl-C or Ctrl-D: no answer, and the cursor still stands behind the question.
    .catch(() => void output.write("\n"))
    .finally(() => terminal.close());
  if (answer?.trim() !== "yes") throw operatorFault("nothing was changed");
}

type Terminal = { input: NodeJS.ReadableStream & { isTTY?: boolean }; output: NodeJS.WritableStream };
