import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Trx } from "../storage/storage.ts";
import type { ApplicationKey } from "./application-key.ts";
import { applicationKeyResource } from "./resource.ts";

export const noteKey = (
  trx: Trx,
  deps: { clock: Clock },
  by: By,
  type: "application_key.created" | "application_key.updated" | "application_key.rotated",
  key: ApplicationKey,
  changes?: object,
): Promise<void> => {
  const resource = applicationKeyResource(key);
  return noteEvents(trx, deps, by, [{ type, subject: key.id, resource, ...(changes && { changes }) }]);
};
