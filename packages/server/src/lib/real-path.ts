import { existsSync, realpathSync } from "node:fs";

/** Resolves links, because the names of files beside a database derive from its path. */
export const toRealPath = (path: string): string => (existsSync(path) ? realpathSync(path) : path);
