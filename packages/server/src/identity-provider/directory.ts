import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { createSingleFlight } from "../lib/single-flight.ts";
import type { Storage } from "../storage/storage.ts";
import type { Calls } from "./calls.ts";
import { fetchDocument, hostsOf, type Metadata } from "./discovery.ts";
import { examine } from "./doctor.ts";
import { readKeys, type SigningKey, selectKey } from "./keys.ts";
import { type Profile, saveMetadata } from "./profile.ts";

/**
 * What we know of each identity provider, as last known good: read when it is needed and older than five minutes, used
 * for a day while it cannot be read again, replaced as a whole. Nothing is read at start-up. Entries belong to a
 * profile, and to the state of the profile that they were read for: two providers never share any.
 */
export type Directory = {
  /** Its endpoints, or undefined when it has never been read, or not for a day. */
  metadataOf(profile: Profile): Promise<Metadata | undefined>;
  /** The key that a token's header means. One that is not known makes us look again, but not more than every ten seconds. */
  keyFor(profile: Profile, kid: unknown, algorithm: string, by?: BroughtBy): Promise<SigningKey | undefined>;
  /** A signature did not fit: the key may have been replaced under its old name. Whether it was, `keyFor` then tells. */
  rereadKeys(profile: Profile, by?: BroughtBy): Promise<void>;
};

/** Anybody may post a logout token: what they make us read must not keep us from reading for a sign-on. */
export type BroughtBy = "provider" | "anybody";

const FRESH_MS = 5 * 60_000;
const STALE_MS = 24 * 3_600_000;
const COOL_DOWN_MS = 10_000;
const MAX_ENTRIES = 10_000;

type Entry = {
  updatedAt: number;
  metadata: Metadata | null;
  keys: SigningKey[];
  /** When metadata and keys were last read whole; keys alone may be younger. */
  readAtMs: number;
  keysReadAtMs: number;
  failedAtMs: number;
  rereadAtMs: Record<BroughtBy, number>;
};

type Deps = { storage: Storage; clock: Clock; calls: Calls; allowedOrigins: readonly string[] };

export function createDirectory(deps: Deps): Directory {
  const { clock, calls } = deps;
  const entries = new Map<string, Entry>();
  const once = createSingleFlight<void>();
  const ageOf = (atMs: number) => clock.monotonicMs() - atMs;

  function entryOf(profile: Profile): Entry {
    const known = entries.get(profile.id);
    if (known && known.updatedAt === profile.updatedAt) return known;
    if (!known && entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
    const never = Number.NEGATIVE_INFINITY;
    const entry: Entry = {
      updatedAt: profile.updatedAt,
      metadata: profile.metadata,
      keys: [],
      readAtMs: never,
      keysReadAtMs: never,
      failedAtMs: never,
      rereadAtMs: { provider: never, anybody: never },
    };
    entries.set(profile.id, entry);
    return entry;
  }

  /** Reads document and keys again when they are old. A provider that just failed is not asked again at once. */
  async function refresh(profile: Profile): Promise<Entry> {
    const entry = entryOf(profile);
    if (ageOf(entry.readAtMs) < FRESH_MS || ageOf(entry.failedAtMs) < COOL_DOWN_MS) return entry;
    await once(`read ${profile.id} ${profile.updatedAt}`, () => read(profile, entry));
    return entry;
  }

  async function read(profile: Profile, entry: Entry): Promise<void> {
    const send = (request: Parameters<Calls["send"]>[1]) => calls.send(profile.id, request);
    const { metadata, keys } = await examine(
      { send, clock, allowedOrigins: deps.allowedOrigins },
      profile.discoveryUrl,
    );
    if (!metadata) {
      entry.failedAtMs = clock.monotonicMs();
      return;
    }
    if (entry.metadata && hasDrifted(entry.metadata, metadata)) {
      // We go on with what an administrator has seen; its keys may have moved too, so they are not taken over either.
      entry.failedAtMs = clock.monotonicMs();
      if (JSON.stringify(profile.pending?.metadata) !== JSON.stringify(metadata)) {
        await saveMetadata(deps, profile, { metadata: entry.metadata, pending: metadata });
      }
      return;
    }
    if (JSON.stringify(entry.metadata) !== JSON.stringify(metadata) || profile.pending) {
      await saveMetadata(deps, profile, { metadata, pending: null });
    }
    entry.metadata = metadata;
    entry.keys = keys;
    entry.readAtMs = clock.monotonicMs();
    entry.keysReadAtMs = entry.readAtMs;
  }

  async function readKeysAlone(profile: Profile, entry: Entry): Promise<void> {
    if (!entry.metadata) return;
    const send = (request: Parameters<Calls["send"]>[1]) => calls.send(profile.id, request);
    const found = await fetchDocument(send, entry.metadata.jwksUri, limits.keysBytes);
    const keys = "reason" in found ? undefined : readKeys(found.document);
    if (!keys) return;
    entry.keys = keys;
    entry.keysReadAtMs = clock.monotonicMs();
  }

  async function rereadKeys(profile: Profile, by: BroughtBy = "provider"): Promise<void> {
    const entry = await refresh(profile);
    await once(`keys ${by} ${profile.id} ${profile.updatedAt}`, async () => {
      if (ageOf(entry.rereadAtMs[by]) < COOL_DOWN_MS) return;
      entry.rereadAtMs[by] = clock.monotonicMs();
      await readKeysAlone(profile, entry);
    });
  }

  return {
    async metadataOf(profile) {
      const entry = await refresh(profile);
      // A document from the database may be older than this process; it counts as read when it was accepted.
      const isUsable = entry.readAtMs === Number.NEGATIVE_INFINITY || ageOf(entry.readAtMs) < STALE_MS;
      return isUsable ? (entry.metadata ?? undefined) : undefined;
    },
    async keyFor(profile, kid, algorithm, by) {
      const entry = await refresh(profile);
      const isUsable = ageOf(entry.keysReadAtMs) < STALE_MS;
      const key = isUsable ? selectKey(entry.keys, kid, algorithm) : undefined;
      if (key) return key;
      await rereadKeys(profile, by);
      return ageOf(entry.keysReadAtMs) < STALE_MS ? selectKey(entry.keys, kid, algorithm) : undefined;
    },
    rereadKeys,
  };
}

/** Another issuer, or a host that an administrator has not seen, is never taken over silently. */
const hasDrifted = (known: Metadata, found: Metadata): boolean =>
  known.issuer !== found.issuer ||
  new URL(known.authorizationEndpoint).host !== new URL(found.authorizationEndpoint).host ||
  hostsOf(known).toSorted().join() !== hostsOf(found).toSorted().join();
