import type { Clock } from "../lib/clock.ts";
import type { Metadata, Send } from "./discovery.ts";
import type { SigningKey } from "./keys.ts";

/**
 * Latchkey as the client of one identity provider. This folder knows no database, no store and no profile: profiles/
 * makes these values.
 */
export type IdpClient = {
  clientId: string;
  metadata: Metadata;
  keys: KeySource;
  /** Sends a request to this provider. */
  send: Send;
  clock: Clock;
};

/** The provider's key set, as the caller keeps it. */
export type KeySource = {
  /**
   * The key that a token's header names. An unknown key makes the source read the key set again, at most every ten
   * seconds.
   */
  keyFor(kid: unknown, algorithm: string): Promise<SigningKey | undefined>;
  /** True when the last attempt to read the key set failed, and before the first. */
  keysFailed(): boolean;
  /**
   * How long until the key set is read again for an unknown key. 0: the key set was read just now, so waiting does not
   * help.
   */
  untilRereadMs(): number;
  /**
   * Reads the key set again when a signature does not fit: the provider may have replaced the key under the same `kid`.
   */
  reread(): Promise<void>;
};
