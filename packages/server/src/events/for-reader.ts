import { withoutPath } from "../lib/without-path.ts";
import { type EventRow, presentEvent } from "./event.ts";

type JsonMembers = Readonly<Record<string, unknown>>;
type Data = {
  resource: JsonMembers & { configuration?: JsonMembers };
  changes?: Record<string, unknown>;
  actor: { type: string; id: string | null; name: string | null };
  request_id: string | null;
};

/**
 * An event as a reader with this role sees it. Data of members and addresses of webhooks are for administrators. Other
 * roles get the rest of such an event, with `withheld` and without the salt, so that the digest does not reveal the
 * data by guessing. `hash` covers only the digest, so every reader can verify the chain. Every role sees the attributes
 * that a filter compares.
 */
export function presentEventFor(role: string | null, row: EventRow): ReturnType<typeof presentEvent> {
  const event = presentEvent(row);
  if (role === "administrator" || typeof event.data === "string") return event;
  const shown = withoutReserved(event.type, event.data);
  if (!shown) return event;
  const { salt: _, ...others } = event;
  return { ...others, data: { ...shown, withheld: true } };
}

/** The data without the members reserved for administrators; undefined if it has none of them. */
function withoutReserved(type: string, data: Data): Data | undefined {
  const { resource, changes, actor } = data;
  const isOfMember = type.startsWith("member.") && (changes || Object.keys(resource).length > 2);
  const shown = isOfMember ? ofMember(data) : withoutAddress(data);
  // Earlier releases wrote the member's name, or the address of a member without a name.
  const isNamed = actor.type === "member" && actor.name !== null;
  if (isNamed) return { ...(shown ?? data), actor: { ...actor, name: null } };
  return shown;
}

const ofMember = ({ resource, actor, request_id }: Data): Data => ({
  resource: { type: resource.type, id: resource.id },
  actor,
  request_id,
});

/** Today's events contain only the origin of a webhook's URL. Older events contain the whole URL. */
function withoutAddress(data: Data): Data | undefined {
  const { resource, changes } = data;
  if (resource.type !== "integration") return undefined;
  const configuration = changes?.configuration as { before?: JsonMembers; after?: JsonMembers } | undefined;
  const addresses = [resource.configuration, configuration?.before, configuration?.after].map(
    (of) => of?.url,
  );
  if (addresses.every((url) => url === undefined || url === withoutPath(String(url)))) return undefined;
  return {
    ...data,
    resource: { ...resource, configuration: masked(resource.configuration) },
    ...(changes && {
      changes: {
        ...changes,
        ...(configuration && {
          configuration: { before: masked(configuration.before), after: masked(configuration.after) },
        }),
      },
    }),
  };
}

const masked = (configuration: JsonMembers = {}): JsonMembers => ({
  ...configuration,
  ...(typeof configuration.url === "string" && { url: withoutPath(configuration.url) }),
});
