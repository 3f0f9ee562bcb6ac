import type { Customer, CustomerTokenEntry } from "./contract.ts";
import type { Exchange, Fetch } from "./exchange.ts";

/** What a storefront works with. `Customer` and `Session` are as they come over the wire. */

/** `localStorage`, `sessionStorage`, or anything like them. */
export type StorageLike = {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
};

export type StorefrontOptions = {
  /** Where Latchkey is: `https://keys.example`. */
  baseUrl: string;
  /** Of one of the store's application keys. It is public; the secret has no place in a storefront. */
  clientId: string;
  fetch?: Fetch | undefined;
  /** Where open sign-ons are kept while the shopper is away: `localStorage`; memory where there is none. */
  storage?: StorageLike | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
  sleep?: ((ms: number) => Promise<unknown>) | undefined;
  /** Sees every exchange with the service; never a token, code, password or other secret. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
};

/** An identity provider that a shopper can sign in with. */
export type Provider = {
  id: string;
  name: string;
  /** Whether it is worth trying. */
  isUp: boolean;
  health: "up" | "degraded" | "down" | "unknown";
  /** `direct`: the shopper goes to the provider's own address, not to Latchkey's. */
  flow: "brokered" | "direct";
};

export type SignOnOptions = {
  /** One of the realm's `redirect_uris`, to the letter. */
  redirectUri: string;
  /** What to ask for; `openid email` unless said otherwise. With `profile` the customer gets its name. */
  scope?: string | undefined;
  prompt?: string | undefined;
  display?: string | undefined;
  uiLocales?: string | undefined;
  nonce?: string | undefined;
};

/** Send the shopper to `url`. */
export type BegunSignOn = { url: string; state: string };

/** A customer who is signed in. Whoever has `token` is that customer until `expiresAt`. */
export type CustomerToken = {
  /** Of the session, not secret. */
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
  /** A new one ends the customer's other sessions. */
  password?: string | undefined;
  external_ref?: string | null | undefined;
};

/** A customer token that works now, without the token itself. */
export type Session = CustomerTokenEntry;

/** The signed-in customer, and what it may do. */
export type CustomerAccount = {
  get(): Promise<Customer>;
  update(change: CustomerChange): Promise<Customer>;
  delete(): Promise<void>;
  sessions(): Promise<Session[]>;
  /** Ends one session; its own if none is named. */
  signOut(sessionId?: string): Promise<void>;
  signOutEverywhere(): Promise<void>;
};

export type Storefront = {
  listProviders(): Promise<Provider[]>;
  /** Without a provider, the realm's only one is used, or the shopper is asked. */
  beginSignOn(provider: Provider | string | undefined, options: SignOnOptions): Promise<BegunSignOn>;
  /** Whether an address is the answer to a sign-on; `location.href` if none is given. */
  isSignOnAnswer(url?: string): boolean;
  /** Ends a sign-on, once: asked again with the same address, it gives the same result. */
  completeSignOn(url?: string): Promise<CustomerToken>;
  signIn(credentials: { email: string; password: string }): Promise<CustomerToken>;
  register(customer: NewCustomer): Promise<Customer>;
  customer(token: CustomerToken | string): CustomerAccount;
};
