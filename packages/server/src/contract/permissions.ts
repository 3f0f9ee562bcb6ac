/**
 * Who may call what. An implicit token is public: whoever knows a client id can have one. With a customer token beside
 * it, the caller is that customer too. `client_credentials` is the store's own back office, and a member a person of it; what
 * these two may do of all this follows from their role, and a customer token beside theirs changes nothing.
 */
export type Grant = "implicit" | "client_credentials" | "member";

/** The store's own programs and people. */
export const isBackOffice = ({ grant }: { grant: Grant }): boolean =>
  grant === "client_credentials" || grant === "member";

type CallerKind = Grant | "customer";
type Action = "create" | "read" | "write" | "own";

const ALL = ["create", "read", "write", "own"] as const;

const permissions = {
  authentication_settings: {
    implicit: ["read"],
    customer: ["read"],
    client_credentials: ["read", "write"],
    member: ["read", "write"],
  },
  customers: { implicit: ["create"], customer: ["create", "own"], client_credentials: ALL, member: ALL },
  customer_tokens: {
    implicit: ["create"],
    customer: ["create", "own"],
    client_credentials: ALL,
    member: ALL,
  },
  application_keys: forBackOffice(),
  members: forBackOffice(),
  me: forBackOffice(),
  store: forBackOffice(),
  sign_ons: forBackOffice(),
  // What stands behind a gateway knows programs and customers; a person's token for the console is not for it.
  gateway: { implicit: ["own"], customer: ["own"], client_credentials: ["own"], member: [] },
  events: forBackOffice(),
  integrations: forBackOffice(),
} as const satisfies Record<string, Record<CallerKind, readonly Action[]>>;

function forBackOffice() {
  const both = ["read", "write"] as const;
  return { implicit: [], customer: [], client_credentials: both, member: both } as const;
}

type Resource = keyof typeof permissions;
export type Permission = readonly [Resource, Action];

export function isPermitted(caller: CallerKind, [resource, action]: Permission): boolean {
  const allowed: readonly Action[] = permissions[resource][caller];
  return allowed.includes(action);
}
