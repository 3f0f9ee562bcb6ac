import "../../bin/bundled.ts";

// Only now: the program loads the libraries by way of what is imported above, and its own copy of Kysely is the one to watch.
const { watchAllStatements } = await import("./statements-seen.ts");
watchAllStatements();
