import { withoutPath } from "../lib/without-path.ts";
import { type EventRow, presentEvent } from "./event.ts";

type Shown = ReturnType<typeof presentEvent>;
type Members = Readonly<Record<string, unknown>>;
type Data = {
  resource: Members & { configuration?: Members };
  changes?: Record<string, unknown>;
  actor: { type: string; id: string | null; name: string | null };
  request_id: string | null;
};

/**
 * An event as a reader with this role is shown it. Members, and the addresses of webhooks, are for administrators: of an event that holds
 * these, other roles are shown the rest, with `withheld`, and without the salt, so that the digest does not tell what was withheld by trying.
 * `hash` covers the digest and not the data, so every reader can check the chain. All that a filter compares is shown to every role.
 */
export function presentEventFor(role: string | null, row: EventRow): Shown {
  const event = presentEvent(row);
  if (role === "administrator" || typeof event.data === "string") return event;
  const shown = withoutReserved(event.type, event.data);
  if (!shown) return event;
  const { salt: _, ...others } = event;
  return { ...others, data: { ...shown, withheld: true } };
}

/** The data without what is reserved for administrators; nothing where it holds none of that. */
function withoutReserved(type: string, data: Data): Data | undefined {
  const { resource, changes, actor } = data;
  const isOfMember = type.startsWith("member.") && (changes || Object.keys(resource).length > 2);
  const shown = isOfMember ? ofMember(data) : withoutAddress(data);
  // Earlier releases wrote the member's name, or the address of one without a name.
  const isNamed = actor.type === "member" && actor.name !== null;
  if (isNamed) return { ...(shown ?? data), actor: { ...actor, name: null } };
  return shown;
}

const ofMember = ({ resource, actor, request_id }: Data): Data => ({
  resource: { type: resource.type, id: resource.id },
  actor,
  request_id,
});

/** Events of today have no more of a webhook's address than its origin; those from before have all of it. */
function withoutAddress(data: Data): Data | undefined {
  const { resource, changes } = data;
  if (resource.type !== "integration") return undefined;
  const configuration = changes?.configuration as { before?: Members; after?: Members } | undefined;
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

const masked = (configuration: Members = {}): Members => ({
  ...configuration,
  ...(typeof configuration.url === "string" && { url: withoutPath(configuration.url) }),
});
