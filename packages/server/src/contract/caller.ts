import type { Grant } from "./permissions.ts";
import type { Role } from "./roles.ts";

/** Whose token a request came with. The store is always this one; nothing in a path or body widens it. */
export type Caller = {
  storeId: string;
  holder: Holder;
  grant: Grant;
  /** What it may do, as it is now; `null` for an implicit token, whose rights are the same for everybody. */
  role: Role | null;
  /** The customer whose token came beside an implicit token, where that counts; at the gateway check, beside a program's, too. */
  customer?: SignedIn;
  /** The request that it came with. */
  requestId: string;
};

/** Whom an access token was given to. */
export type Holder =
  | { type: "application_key"; id: string; name: string; clientId: string }
  | { type: "member"; id: string; name: string; email: string };

export type SignedIn = { customerId: string; realmId: string; tokenId: string; mechanism: string };
