import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSecret } from "../lib/secrets.ts";
import { createHourlyCap, type FullCounter } from "../rate-limit/hourly-cap.ts";
import type { CustomerKey } from "./customer.ts";

/**
 * Hourly limits for writes with public tokens, which everybody can have. The rate limit alone would not do, because
 * rows and events stay. For back-office tokens only the store's rate limit counts.
 */
export type PublicWrites = ReturnType<typeof createPublicWrites>;

type Deps = {
  clock: Clock;
  valkey?: Valkey | undefined;
  signUpLimitsOf(storeId: string): Promise<{ sign_ups_per_network: number; sign_ups_per_hour: number }>;
};

export function createPublicWrites({ clock, valkey, signUpLimitsOf }: Deps) {
  const cap = createHourlyCap({ clock, valkey });

  /** Counts the write before `work` begins. If the service itself fails, the write does not count. */
  async function count<T>(
    storeId: string,
    counters: { key: string; most: number }[],
    refusal: (full: FullCounter) => Problem,
    work: () => Promise<T>,
  ): Promise<T> {
    const use = await cap.take(storeId, counters);
    if ("retryAfterSeconds" in use) throw refusal(use);
    return work().catch(async (error) => {
      const isRefusal = error instanceof Problem && error.status < 500;
      if (!isRefusal) await use.giveBack();
      throw error;
    });
  }

  return {
    /**
     * Creates a customer, unless the last hour had too many sign-ups from this network (IPv4 address or IPv6 /64) or in
     * this store. A sign-up counts before its password is hashed, which is the expensive step.
     */
    async signUp<T>({ storeId, source }: { storeId: string; source: string }, work: () => Promise<T>) {
      const { sign_ups_per_network, sign_ups_per_hour } = await signUpLimitsOf(storeId);
      // Hashed, so that no address is kept in Valkey for an hour.
      const ofNetwork = `sign-ups:${hashSecret(source).slice(0, 32)}`;
      const counters = [
        { key: ofNetwork, most: sign_ups_per_network },
        { key: "sign-ups", most: sign_ups_per_hour },
      ];
      const refusal = ({ key, retryAfterSeconds }: FullCounter) =>
        tooManySignUps(retryAfterSeconds, key === ofNetwork ? "network" : "store");
      return count(storeId, counters, refusal, work);
    },
    /** Changes a customer's own data with a customer token. */
    change<T>({ storeId, customerId }: CustomerKey, work: () => Promise<T>) {
      const counter = { key: `changes:${customerId}`, most: limits.ownChangesPerHour };
      return count(storeId, [counter], (full) => new Problem("own_changes_exceeded", full), work);
    },
    sweep: cap.sweep,
  };
}

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
