import { createLog } from "../../src/lib/log.ts";

export const silentLog = createLog("silent", { write() {} });
