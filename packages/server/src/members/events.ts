import type { EventDraft } from "../events/note.ts";
import type { Member } from "./member.ts";
import { memberResource } from "./resource.ts";

export const memberEvent = (type: "member.created" | "member.updated", member: Member): EventDraft => ({
  type,
  subject: member.id,
  personId: member.id,
  resource: memberResource(member),
});
