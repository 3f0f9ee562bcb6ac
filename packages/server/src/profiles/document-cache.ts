import { createSingleFlight } from "../lib/single-flight.ts";
import type { DocumentFailure, Metadata } from "../openid/discovery.ts";
import type { SigningKey } from "../openid/keys.ts";
import { hasDrifted } from "./drift.ts";
import type { Profile } from "./profile.ts";

/** Sign-ons and logout tokens have separate limits for reading keys again, because anyone can post logout tokens. */
export type KeyPurpose = "sign_on" | "logout";

/** The document and the key set of one profile's provider, as this process has read them. */
export type CachedDocument = {
  discoveryUrl: string;
  metadata: Metadata | null;
  keys: SigningKey[];
  /** When metadata and keys were last read together; the keys alone may be younger. */
  readAtMs: number;
  keysReadAtMs: number;
  /** The last attempt to read the key set failed, or there was none. */
  keysFailed: boolean;
  failedAtMs: number;
  /** Why the document could not be read the last time. */
  failure: DocumentFailure | undefined;
  rereadAtMs: Record<KeyPurpose, number>;
  once: ReturnType<typeof createSingleFlight<void>>;
};

const MAX_DOCUMENTS = 10_000;
/** For all providers together, about two kilobytes each: most publish fewer than ten, and one may publish a hundred. */
const MAX_KEYS = 100_000;
export const NEVER = Number.NEGATIVE_INFINITY;

/**
 * Has an entry per profile. An entry is dropped when the profile has another discovery URL, or when another issuer or
 * other hosts were approved. A rename, a new secret and the like leave the entry as it is, with its wait after a
 * failure.
 */
export class DocumentCache {
  readonly #entries = new Map<string, CachedDocument>();
  readonly #maxKeys: number;
  readonly #onMoved: (profileId: string) => void;
  #keysKept = 0;

  constructor(onMoved: (profileId: string) => void, maxKeys = MAX_KEYS) {
    this.#onMoved = onMoved;
    this.#maxKeys = maxKeys;
  }

  entryOf(profile: Profile): CachedDocument {
    const known = this.#entries.get(profile.id);
    if (known && isStillOf(known, profile)) {
      // All instances store what they read, so the stored document is the latest, also without a drift.
      known.metadata = profile.metadata ?? known.metadata;
      return known;
    }
    if (known && known.discoveryUrl !== profile.discovery_url) this.#onMoved(profile.id);
    if (known) this.#drop(profile.id, known);
    else if (this.#entries.size >= MAX_DOCUMENTS)
      this.#drop(...(this.#entries.entries().next().value as [string, CachedDocument]));
    const entry = unreadOf(profile);
    this.#entries.set(profile.id, entry);
    return entry;
  }

  keepKeys(profile: Profile, entry: CachedDocument, keys: SigningKey[], readAtMs: number): void {
    // An entry that was dropped while it was read still serves the callers that wait for it, but is not counted.
    if (this.#entries.get(profile.id) === entry) this.#keysKept += keys.length - entry.keys.length;
    entry.keys = keys;
    entry.keysReadAtMs = readAtMs;
    entry.keysFailed = false;
    this.#dropLargest();
  }

  #drop(profileId: string, { keys }: CachedDocument): void {
    this.#entries.delete(profileId);
    this.#keysKept -= keys.length;
  }

  /** Oldest first, entries with at least the average number of keys: a hundred keys cannot drop an entry with two. */
  #dropLargest(): void {
    for (const [profileId, entry] of this.#entries) {
      if (this.#keysKept <= this.#maxKeys) return;
      if (entry.keys.length >= this.#keysKept / this.#entries.size) this.#drop(profileId, entry);
    }
  }
}

const unreadOf = (profile: Profile): CachedDocument => ({
  discoveryUrl: profile.discovery_url,
  metadata: profile.metadata,
  keys: [],
  readAtMs: NEVER,
  keysReadAtMs: NEVER,
  keysFailed: true,
  failedAtMs: NEVER,
  failure: undefined,
  rereadAtMs: { sign_on: NEVER, logout: NEVER },
  once: createSingleFlight<void>(),
});

/** A profile without a document may be older than the document that was read in the meantime. */
const isStillOf = ({ discoveryUrl, metadata }: CachedDocument, profile: Profile): boolean =>
  discoveryUrl === profile.discovery_url &&
  (profile.metadata === null || (metadata !== null && !hasDrifted(metadata, profile.metadata)));
