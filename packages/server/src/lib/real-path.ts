import { existsSync, realpathSync } from "node:fs";

/** What stands beside a file is named after it, so a link to it must lead to the same names. */
export const toRealPath = (path: string): string => (existsSync(path) ? realpathSync(path) : path);
