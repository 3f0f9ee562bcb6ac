/**
 * Who may call which operations. An implicit token is public: everyone who knows a client id can get one. With a
 * customer token beside it, the caller is that customer as well. `client_credentials` tokens belong to the store's
 * programs, and member tokens to its people; their role decides what they may do, and a customer token beside theirs
 * changes nothing.
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
  setup_links: forBackOffice(),
  // Services behind a gateway know programs and customers; a member's token for the console is not for them.
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
