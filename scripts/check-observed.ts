import { rowOf } from "../packages/server/src/contract/columns.ts";
import { problemsOf } from "../packages/server/src/contract/operation.ts";
import { operations } from "../packages/server/src/contract/operations.ts";
import { hasRun, readObserved } from "../packages/server/test/support/observed.ts";

// After a whole test run, checks that each answer of the contract occurred in a test.
if (!hasRun("short")) {
  console.log("Not checked: whether a test saw every declared answer, because only some of the tests ran.");
  process.exit(0);
}
const observed = readObserved();
const declared = operations.flatMap((operation) => [
  `${operation.id} ${operation.success.status}`,
  ...(operation.success.statusOnRequest ? [`${operation.id} ${operation.success.statusOnRequest}`] : []),
  ...(rowOf(operation) ? [`${operation.id} ${operation.success.status} text/csv`] : []),
  ...(operation.success.page ? [`${operation.id} 200`] : []),
  ...problemsOf(operation).map((code) => `${operation.id} ${code}`),
]);
const missing = declared.filter((answer) => !observed.has(answer));
if (missing.length > 0) {
  console.error(
    `No test has seen these declared answers:\n${missing.map((answer) => `  ${answer}`).join("\n")}`,
  );
  process.exit(1);
}
console.log(`The tests saw all ${declared.length} declared answers of ${operations.length} operations.`);
