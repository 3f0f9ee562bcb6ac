import type { Event, EventData } from "@latchkey/sdk/admin";

/** Describes events in sentences. */
const THINGS: Record<string, string> = {
  customer: "customer",
  customer_token: "session",
  sign_on: "sign-on",
  oidc_profile: "provider",
  authentication_realm: "realm",
  customer_authentication_settings: "authentication settings",
  application_key: "key",
  store: "store",
  integration: "integration",
  member: "member",
};

const ACTS: Record<string, string> = {
  code_replayed: "code used twice",
  identity_linked: "identity linked",
  identity_unlinked: "identity unlinked",
  health_changed: "health changed",
  drift_detected: "change noticed at the provider",
  drift_approved: "change of the provider approved",
};

export const KINDS: readonly { value: string; label: string }[] = [
  { value: "", label: "Everything" },
  { value: "customer.*,customer_token.*", label: "Customers and sessions" },
  { value: "sign_on.*", label: "Sign-ons" },
  {
    value: "oidc_profile.*,authentication_realm.*,customer_authentication_settings.*",
    label: "Providers and realms",
  },
  { value: "application_key.*,store.*", label: "Keys and limit" },
  { value: "integration.*,member.*", label: "Integrations and members" },
];

/**
 * A name may change the text direction of its surroundings, so it stays separate and is isolated on display.
 */
export type Sentence = { before: string; name: string; after: string };

/** "Provider Company account updated". */
export function eventInWords({ type, data }: Pick<Event, "type" | "data">): Sentence {
  const [thing = "", act = ""] = type.split(".");
  const words = THINGS[thing] ?? thing;
  return {
    before: words.charAt(0).toUpperCase() + words.slice(1),
    name:
      data === "(erased)"
        ? ""
        : nameOf(data.resource) || (act === "deleted" || data.withheld ? data.resource.id : ""),
    after: ACTS[act] ?? act.replaceAll("_", " "),
  };
}

const nameOf = (resource: EventData["resource"]): string =>
  typeof resource.name === "string"
    ? resource.name
    : typeof resource.reference === "string"
      ? resource.reference
      : "";

/**
 * "Shop server (application key)", "the operator". A member is shown by id only, because events keep ids
 * after an erasure.
 */
export function actorInWords({ type, id, name: given }: EventData["actor"]): Sentence {
  const kind = type.replaceAll("_", " ");
  const name = given ?? (type === "member" ? id : null);
  return name ? { before: "", name, after: `(${kind})` } : { before: `the ${kind}`, name: "", after: "" };
}

/** A value of a change on one line. */
export const valueInWords = (value: unknown): string =>
  value === undefined || value === null
    ? "(none)"
    : typeof value === "string"
      ? value
      : JSON.stringify(value);
