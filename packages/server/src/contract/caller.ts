import type { Grant } from "./permissions.ts";

/** Whose token a request came with. The store is always this one; nothing in a path or body widens it. */
export type Caller = {
  storeId: string;
  keyId: string;
  keyName: string;
  clientId: string;
  grant: Grant;
  /** The customer whose token came with the request, where that counts. */
  customer?: SignedIn;
  /** The request that it came with. */
  requestId: string;
};

export type SignedIn = { customerId: string; realmId: string; tokenId: string; mechanism: string };
