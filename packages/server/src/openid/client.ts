import type { Clock } from "../lib/clock.ts";
import type { Metadata, Send } from "./discovery.ts";
import type { SigningKey } from "./keys.ts";

/** Latchkey as a client of one provider. profiles/ makes these values: openid/ knows no database and no profile. */
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
  /** An unknown key makes the source read the key set again, at most every ten seconds. */
  keyFor(kid: unknown, algorithm: string): Promise<SigningKey | undefined>;
  /** True when the last attempt to read the key set failed, and before the first. */
  keysFailed(): boolean;
  /** The wait until the key set may be read again. 0: it was read just now, so waiting does not help. */
  untilRereadMs(): number;
  /** After a bad signature: the provider may have replaced the key under the same `kid`. */
  reread(): Promise<void>;
};
