import { watchAllStatements } from "./statements-seen.ts";

// Before any test: of whatever is opened from here on, the statements are noted.
watchAllStatements();
