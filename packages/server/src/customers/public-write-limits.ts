import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSecret } from "../lib/secrets.ts";
import { createHourlyCap } from "../rate-limit/hourly-cap.ts";

/**
 * Hourly limits for writes with public tokens, which everybody can have. The rate limit alone would not do, because
 * rows and events stay. For back-office tokens only the store's rate limit counts.
 */
export type PublicWrites = {
  /**
   * Creates a customer, unless the last hour had too many sign-ups from this network (IPv4 address or IPv6 /64) or in
   * this store. A sign-up counts before its password is hashed, which is the expensive step. It does not count if the
   * service itself fails.
   */
  signUp<T>(from: { storeId: string; source: string }, work: () => Promise<T>): Promise<T>;
  /** Changes a customer's own data with a customer token. */
  change<T>(of: { storeId: string; customerId: string }, work: () => Promise<T>): Promise<T>;
  sweep(): void;
};

type Deps = {
  clock: Clock;
  valkey?: Valkey | undefined;
  signUpLimitsOf(storeId: string): Promise<{ sign_ups_per_network: number; sign_ups_per_hour: number }>;
};

export function createPublicWrites({ clock, valkey, signUpLimitsOf }: Deps): PublicWrites {
  const cap = createHourlyCap({ clock, valkey });

  return {
    async signUp({ storeId, source }, work) {
      const { sign_ups_per_network, sign_ups_per_hour } = await signUpLimitsOf(storeId);
      // Hashed, so that no address is kept in Valkey for an hour.
      const ofNetwork = `sign-ups:${hashSecret(source).slice(0, 32)}`;
      const counters = [
        { key: ofNetwork, most: sign_ups_per_network },
        { key: "sign-ups", most: sign_ups_per_hour },
      ];
      const use = await cap.take(storeId, counters);
      if ("retryAfterSeconds" in use)
        throw tooManySignUps(use.retryAfterSeconds, use.key === ofNetwork ? "network" : "store");
      return work().catch(refundServiceErrors(use));
    },
    async change({ storeId, customerId }, work) {
      const counter = { key: `changes:${customerId}`, most: limits.ownChangesPerHour };
      const use = await cap.take(storeId, [counter]);
      if ("retryAfterSeconds" in use) throw new Problem("own_changes_exceeded", use);
      return work().catch(refundServiceErrors(use));
    },
    sweep: cap.sweep,
  };
}

const refundServiceErrors =
  (use: { giveBack(): Promise<void> }) =>
  async (error: unknown): Promise<never> => {
    const isRefusal = error instanceof Problem && error.status < 500;
    if (!isRefusal) await use.giveBack();
    throw error;
  };

const TOO_MANY_SIGN_UPS = {
  network: "Too many customers were created from this network in the last hour.",
  store: "Too many customers were created in this store in the last hour.",
};

const tooManySignUps = (retryAfterSeconds: number, bucket: keyof typeof TOO_MANY_SIGN_UPS): Problem =>
  new Problem("sign_ups_exceeded", {
    detail: TOO_MANY_SIGN_UPS[bucket],
    meta: { bucket, retry_after_seconds: retryAfterSeconds },
    retryAfterSeconds,
  });
