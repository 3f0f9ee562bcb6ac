/**
 * Who may call what. An implicit token is public: whoever knows a client id can have one. With a customer token beside
 * it, the caller is that customer too. `client_credentials` is the store's own back office.
 */
export type Grant = "implicit" | "client_credentials";

/** The store's own: what they may do follows from their role. */
export const isBackOffice = ({ grant }: { grant: Grant }): boolean => grant === "client_credentials";

type CallerKind = "implicit" | "customer" | "client_credentials";
type Action = "create" | "read" | "write" | "own";

const permissions = {
  authentication_settings: { implicit: ["read"], customer: ["read"], client_credentials: ["read", "write"] },
  customers: {
    implicit: ["create"],
    customer: ["create", "own"],
    client_credentials: ["create", "read", "write", "own"],
  },
  customer_tokens: {
    implicit: ["create"],
    customer: ["create", "own"],
    client_credentials: ["create", "read", "write", "own"],
  },
  application_keys: { implicit: [], customer: [], client_credentials: ["read", "write"] },
  store: { implicit: [], customer: [], client_credentials: ["read", "write"] },
  sign_ons: { implicit: [], customer: [], client_credentials: ["read", "write"] },
  gateway: { implicit: ["own"], customer: ["own"], client_credentials: ["own"] },
  events: { implicit: [], customer: [], client_credentials: ["read", "write"] },
  integrations: { implicit: [], customer: [], client_credentials: ["read", "write"] },
} as const satisfies Record<string, Record<CallerKind, readonly Action[]>>;

type Resource = keyof typeof permissions;
export type Permission = readonly [Resource, Action];

export function isPermitted(caller: CallerKind, [resource, action]: Permission): boolean {
  const allowed: readonly Action[] = permissions[resource][caller];
  return allowed.includes(action);
}
