import type { Integration, IntegrationChange } from "@latchkey/sdk/admin";
import type { IntegrationDraft } from "./integration-fields.tsx";

type Seen = Pick<Integration, "name" | "observes"> & { configuration: { url: string } };

export const draftOf = ({ name, observes, configuration: { url } }: Seen): IntegrationDraft => ({
  name,
  url,
  observes,
});

/** Only the members that differ, so that a change of another person to the others stays. */
export function changeOf(seen: Seen, draft: IntegrationDraft): IntegrationChange {
  const name = draft.name.trim();
  const url = draft.url.trim();
  const isSameChoice =
    seen.observes.length === draft.observes.length &&
    seen.observes.every((type) => draft.observes.includes(type));
  return {
    ...(name !== seen.name && { name }),
    ...(url !== seen.configuration.url && { configuration: { url } }),
    ...(!isSameChoice && { observes: draft.observes }),
  };
}
