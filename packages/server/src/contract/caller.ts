import type { Grant } from "./permissions.ts";
import type { Role } from "./roles.ts";

/** The owner of a request's token. Every query uses this store; no path or body widens it. */
export type Caller = {
  storeId: string;
  holder: Holder;
  grant: Grant;
  /** The present role; `null` for an implicit token, whose rights are the same for everyone. */
  role: Role | null;
  /**
   * The customer of the customer token beside an implicit token; at the gateway check also beside a program's token.
   */
  customer?: SignedIn;
  /** The id of the request. */
  requestId: string;
};

/** The key or member that an access token was issued to. */
export type Holder =
  | { type: "application_key"; id: string; name: string; clientId: string }
  | { type: "member"; id: string; name: string; email: string };

export type SignedIn = { customerId: string; realmId: string; tokenId: string; mechanism: string };
