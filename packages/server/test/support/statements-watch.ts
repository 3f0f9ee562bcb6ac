import { watchAllStatements } from "./statements-seen.ts";

// Runs before any test: the statements of every storage that is opened from here on are recorded.
watchAllStatements();
