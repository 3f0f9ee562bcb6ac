import { forgetObserved, makeObservedFolder, markObserved } from "./observed.ts";
import { forgetStatements, makeStatementsFolder } from "./statements-seen.ts";

/**
 * Before `npm test`: clears the records of the earlier run. After it: records which of the two runs is complete, for
 * the checks at their end.
 */
export default function setup(): () => void {
  const run = process.env.LATCHKEY_TEST_RUN;
  if (run !== "long") {
    forgetObserved();
    forgetStatements();
  }
  makeObservedFolder();
  makeStatementsFolder();
  return () => {
    if (run === "short" || run === "long") markObserved(run);
  };
}
