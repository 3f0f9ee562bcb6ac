/** The types of events that a webhook can receive, by resource, with what each reports. */
type Group = {
  /** The beginning of the types, and of the pattern for all of them: `customer` in `customer.*`. */
  resource: string;
  label: string;
  types: Record<string, string>;
};

export const EVENT_GROUPS: readonly Group[] = [
  {
    resource: "customer",
    label: "Customers",
    types: {
      "customer.created": "A customer was created, also by a first sign-on.",
      "customer.updated": "A customer’s data changed, also because it changed at the provider.",
      "customer.deleted": "A customer was deleted.",
      "customer.identity_linked": "An account at a provider now signs this customer in.",
      "customer.identity_unlinked": "An account at a provider no longer signs this customer in.",
      "customer.exported": "An administrator downloaded the data of a customer. The event has none of it.",
      "customer.erased": "A customer’s data was removed from the log. Remove it in your program, too.",
    },
  },
  {
    resource: "customer_token",
    label: "Sessions",
    types: {
      "customer_token.created": "A customer signed in.",
      "customer_token.revoked": "A session was ended before its time, for example by a sign-out.",
    },
  },
  {
    resource: "sign_on",
    label: "Sign-ons",
    types: {
      "sign_on.failed": "A sign-on failed. The event has every check, the reason and the remedy.",
      "sign_on.code_replayed": "A code was used a second time. Its session was ended.",
    },
  },
  {
    resource: "oidc_profile",
    label: "Providers",
    types: {
      "oidc_profile.created": "A provider was added.",
      "oidc_profile.updated": "A provider was changed, enabled or disabled.",
      "oidc_profile.deleted": "A provider was removed.",
      "oidc_profile.health_changed": "A provider is up, degraded or down.",
      "oidc_profile.drift_detected":
        "A provider’s document names another issuer or host. The change waits for approval.",
      "oidc_profile.drift_approved": "An administrator approved such a change.",
    },
  },
  {
    resource: "setup_link",
    label: "Set-up links",
    types: {
      "setup_link.created": "A link to the set-up page of a provider was made.",
      "setup_link.deleted": "A link to the set-up page was ended.",
    },
  },
  {
    resource: "authentication_realm",
    label: "Realms",
    types: {
      "authentication_realm.created": "A realm was created.",
      "authentication_realm.updated": "A realm’s redirect URIs, policies or appearance changed.",
      "authentication_realm.deleted": "A realm was deleted.",
    },
  },
  {
    resource: "customer_authentication_settings",
    label: "Authentication settings",
    types: { "customer_authentication_settings.updated": "The store’s authentication settings changed." },
  },
  {
    resource: "application_key",
    label: "Keys",
    types: {
      "application_key.created": "A key was created.",
      "application_key.updated": "A key’s name, role or reservation changed.",
      "application_key.rotated": "A key has a new secret.",
      "application_key.deleted": "A key was deleted.",
    },
  },
  {
    resource: "member",
    label: "Members",
    types: {
      "member.created": "A member was invited.",
      "member.updated": "A member’s role or data changed, also at the first sign-on.",
      "member.deleted": "A member was removed.",
      "member.erased": "A member’s data was removed from the log.",
    },
  },
  {
    resource: "store",
    label: "Store",
    types: { "store.updated": "The store’s name or limit changed." },
  },
  {
    resource: "integration",
    label: "Integrations",
    types: {
      "integration.created": "An integration was added.",
      "integration.updated": "An integration was changed, enabled or disabled, or has a new secret.",
      "integration.deleted": "An integration was deleted.",
      "integration.disabled":
        "Latchkey disabled an integration: its receiver answered 410, or failed for five days.",
    },
  },
];

const patternOf = (resource: string): string => `${resource}.*`;
const typesOf = (resource: string): string[] =>
  Object.keys(EVENT_GROUPS.find((group) => group.resource === resource)?.types ?? {});
const resourceOf = (type: string): string => type.split(".")[0] ?? "";

/** Whether an integration with these types and patterns receives this type. */
export const isObserved = (observes: readonly string[], type: string): boolean =>
  observes.includes(type) || observes.includes(patternOf(resourceOf(type)));

/** Whether all types of the resource are chosen, including types of later releases. */
export const isWhole = (observes: readonly string[], resource: string): boolean =>
  observes.includes(patternOf(resource));

/** Chooses all types of a resource by their pattern, or none of them. */
export function toggleResource(observes: readonly string[], resource: string): string[] {
  const rest = observes.filter((one) => resourceOf(one) !== resource);
  return isWhole(observes, resource) ? rest : [...rest, patternOf(resource)];
}

/** Chooses a single type or not. A pattern gives way to the other types of its resource. */
export function toggleType(observes: readonly string[], type: string): string[] {
  const resource = resourceOf(type);
  if (isWhole(observes, resource))
    return [
      ...observes.filter((one) => resourceOf(one) !== resource),
      ...typesOf(resource).filter((one) => one !== type),
    ];
  return observes.includes(type) ? observes.filter((one) => one !== type) : [...observes, type];
}

/** The single types that an integration receives; a type that this list does not know stays as it is. */
export function expanded(observes: readonly string[]): string[] {
  const known = EVENT_GROUPS.flatMap(({ types }) => Object.keys(types));
  const others = observes.filter((one) => !one.endsWith(".*") && !known.includes(one));
  return [...known.filter((type) => isObserved(observes, type)), ...others];
}

/** "Customers (all), 2 of 4 of Keys". */
export function observesInWords(observes: readonly string[]): string {
  const parts = EVENT_GROUPS.flatMap(({ resource, label }) => {
    if (isWhole(observes, resource)) return [`${label} (all)`];
    const chosen = observes.filter((one) => resourceOf(one) === resource);
    return chosen.length > 2 ? [`${label} (${chosen.length} events)`] : chosen;
  });
  const known = EVENT_GROUPS.map(({ resource }) => resource);
  return [...parts, ...observes.filter((one) => !known.includes(resourceOf(one)))].join(", ");
}
