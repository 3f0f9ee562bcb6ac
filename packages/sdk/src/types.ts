import type { Customer, CustomerTokenEntry } from "./contract.ts";
import type { Exchange, Fetch } from "./exchange.ts";

/** The types of a storefront. `Customer` and `Session` have the members of the API. */

/** `localStorage`, `sessionStorage`, or anything like them. */
export type StorageLike = {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
};

export type StorefrontOptions = {
  /** Where Latchkey is: `https://keys.example`. */
  baseUrl: string;
  /** The client id of an application key. It is public. Never put the key's secret into a storefront. */
  clientId: string;
  fetch?: Fetch | undefined;
  /** Keeps the state of open sign-ons. Default: `localStorage`, or memory if there is none. */
  storage?: StorageLike | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
  sleep?: ((ms: number) => Promise<unknown>) | undefined;
  /** Called for every request to the service. Gets no token, code, password or other secret. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
};

/** An identity provider that a shopper can sign in with. */
export type Provider = {
  id: string;
  name: string;
  /** False if a sign-on through the provider would fail now. */
  isUp: boolean;
  health: "up" | "degraded" | "down" | "unknown";
  /** `direct`: the shopper goes to the provider's authorization endpoint, not to Latchkey's. */
  flow: "brokered" | "direct";
};

export type SignOnOptions = {
  /** Exactly as in the realm's `redirect_uris`. */
  redirectUri: string;
  /** Default: `openid email`. With `profile` the customer gets the name that the provider knows. */
  scope?: string | undefined;
  prompt?: string | undefined;
  display?: string | undefined;
  uiLocales?: string | undefined;
  nonce?: string | undefined;
};

/** Send the shopper to `url`. */
export type BegunSignOn = { url: string; state: string };

/** A signed-in customer. `token` grants access to the customer's account until `expiresAt`. */
export type CustomerToken = {
  /** The id of the session. It is not secret. */
  id: string;
  customerId: string;
  token: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
};

export type { Customer };

export type NewCustomer = { name: string; email: string; password: string };

export type CustomerChange = {
  name?: string | undefined;
  email?: string | undefined;
  /** A new password ends the customer's other sessions. */
  password?: string | undefined;
  external_ref?: string | null | undefined;
};

/** A customer token that works now, without the token itself. */
export type Session = CustomerTokenEntry;

/** The account and the sessions of the signed-in customer. */
export type CustomerAccount = {
  get(): Promise<Customer>;
  update(change: CustomerChange): Promise<Customer>;
  delete(): Promise<void>;
  sessions(): Promise<Session[]>;
  /** Ends a session. Default: the session of the token. */
  signOut(sessionId?: string): Promise<void>;
  signOutEverywhere(): Promise<void>;
};

export type Storefront = {
  listProviders(): Promise<Provider[]>;
  /**
   * Without a provider, Latchkey uses the realm's only provider, or shows a page on which the shopper
   * chooses.
   */
  beginSignOn(provider: Provider | string | undefined, options: SignOnOptions): Promise<BegunSignOn>;
  /** Whether a URL is the answer to a sign-on. Default: `location.href`. */
  isSignOnAnswer(url?: string): boolean;
  /** Completes a sign-on once. A second call with the same URL gives the same result. */
  completeSignOn(url?: string): Promise<CustomerToken>;
  signIn(credentials: { email: string; password: string }): Promise<CustomerToken>;
  register(customer: NewCustomer): Promise<Customer>;
  customer(token: CustomerToken | string): CustomerAccount;
};
