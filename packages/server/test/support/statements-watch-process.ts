import "../../bin/bundled.ts";

// The import comes last: the program loads its libraries through the imports above, and its own copy of Kysely is
// watched.
const { watchAllStatements } = await import("./statements-seen.ts");
watchAllStatements();
