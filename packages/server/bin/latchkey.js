#!/usr/bin/env node
// Plain JavaScript, so that a Node too old to read TypeScript can still say what is wrong.
import * as nodeModule from "node:module";

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `latchkey runs on Node 24 or later; this is Node ${process.versions.node}.\n` +
      "Run it through npm, which brings its own: `npx latchkey …` from the repository's root after `npm ci`.",
  );
  process.exit(1);
}
nodeModule.enableCompileCache?.();
const { run } = await import("../src/cli/cli.ts");
await run(process.argv.slice(2));
