import { originsFor } from "../lib/allowed-origins.ts";
import type { Clock } from "../lib/clock.ts";
import { createSingleFlight } from "../lib/single-flight.ts";
import type { KeySource, OpenidClient } from "../openid/client.ts";
import type { DocumentFailure, Metadata, Send } from "../openid/discovery.ts";
import { examine, fetchKeys, type Report } from "../openid/doctor.ts";
import { type SigningKey, selectKey } from "../openid/keys.ts";
import type { Storage } from "../storage/storage.ts";
import type { Calls } from "./calls.ts";
import { columnsFor, hasDrifted, isSame, movedTo } from "./drift.ts";
import type { Profile } from "./profile.ts";
import { noteReading, saveDocuments } from "./save-documents.ts";

/**
 * What we know of each identity provider, as last known good: read when it is needed and older than five minutes, used
 * for a day while it cannot be read again, replaced as a whole. While another document waits for approval, the approved one
 * is used for as long as the provider answers. Nothing is read at start-up. An entry belongs to one profile, to its discovery
 * URL and to the issuer and hosts that were approved: another of these begins anew, on every instance. A rename, a new secret
 * or the like leaves everything as it is, the waiting after a failure included.
 */
export type Directory = {
  /** Its endpoints, or undefined when it has never been read, or not for a day. */
  metadataOf(profile: Profile): Promise<Metadata | undefined>;
  /** The same without waiting where this process has read it before: what is old is read again meanwhile. */
  metadataAtHand(profile: Profile): Promise<Metadata | undefined>;
  /** Reads it again, however young it is, and never fails: for finding out whether a provider is back. */
  probe(profile: Profile): Promise<void>;
  /** Examines it for an administrator, and keeps what was found as any reading does: a drift is the same drift, whoever finds it. */
  check(profile: Profile): Promise<Report>;
  /** Why its document could not be read the last time, if it could not. */
  unreadOf(profile: Profile): DocumentFailure | undefined;
  /** The key set. */
  keysOf(profile: Profile, purpose?: KeyPurpose): KeySource;
  /** Latchkey as a client of that provider. */
  clientOf(profile: Profile, metadata: Metadata, purpose?: KeyPurpose): OpenidClient;
};

/** Each purpose has a limit of its own on reading the key set again: any client may post a logout token, and must not use up the limit of sign-ons. */
type KeyPurpose = "sign_on" | "logout";

const FRESH_MS = 5 * 60_000;
const STALE_MS = 24 * 3_600_000;
const COOL_DOWN_MS = 10_000;
const JUST_NOW_MS = 1000;
const MAX_ENTRIES = 10_000;
/** Of all providers together, some two kilobytes each: most publish fewer than ten, and one may publish a hundred. */
const MAX_KEYS = 100_000;
/** How often it is written down that a document was read which was the same. */
const NOTED_EVERY_MS = 6 * 3_600_000;

type Entry = {
  discoveryUrl: string;
  metadata: Metadata | null;
  keys: SigningKey[];
  /** When metadata and keys were last read whole; keys alone may be younger. */
  readAtMs: number;
  keysReadAtMs: number;
  keysFailed: boolean;
  failedAtMs: number;
  unread: DocumentFailure | undefined;
  rereadAtMs: Record<KeyPurpose, number>;
  once: ReturnType<typeof createSingleFlight<void>>;
};

type Deps = {
  storage: Storage;
  clock: Clock;
  calls: Calls;
  allowedOrigins: readonly string[];
  maxKeys?: number;
};

export function createDirectory(deps: Deps): Directory {
  const { clock, calls, maxKeys = MAX_KEYS } = deps;
  const entries = new Map<string, Entry>();
  let keysKept = 0;
  const ageOf = (atMs: number) => clock.monotonicMs() - atMs;
  const sendTo =
    ({ id, store_id: storeId }: Profile): Send =>
    (request) =>
      calls.send(id, { ...request, storeId });

  function entryOf(profile: Profile): Entry {
    const known = entries.get(profile.id);
    if (known && isStillOf(known, profile)) {
      // All instances write what they read, so what is stored is the latest, also of what is no drift.
      known.metadata = profile.metadata ?? known.metadata;
      return known;
    }
    if (known && known.discoveryUrl !== profile.discovery_url) calls.forgetAlone(profile.id);
    if (known) forget(profile.id, known);
    else if (entries.size >= MAX_ENTRIES) forget(...(entries.entries().next().value as [string, Entry]));
    const never = Number.NEGATIVE_INFINITY;
    const entry: Entry = {
      discoveryUrl: profile.discovery_url,
      metadata: profile.metadata,
      keys: [],
      readAtMs: never,
      keysReadAtMs: never,
      keysFailed: true,
      failedAtMs: never,
      unread: undefined,
      rereadAtMs: { sign_on: never, logout: never },
      once: createSingleFlight<void>(),
    };
    entries.set(profile.id, entry);
    return entry;
  }

  function forget(profileId: string, { keys }: Entry): void {
    entries.delete(profileId);
    keysKept -= keys.length;
  }

  /** Those with more than their part go, the oldest first, and are read again when they are needed: a hundred keys of one take nobody's two. */
  function thinOutKeys(): void {
    for (const [profileId, entry] of entries) {
      if (keysKept <= maxKeys) return;
      if (entry.keys.length >= keysKept / entries.size) forget(profileId, entry);
    }
  }

  function keepKeys(profile: Profile, entry: Entry, keys: SigningKey[], readAtMs: number): void {
    // One that was forgotten while it was read is of use to whoever waits for it, and counts no more.
    if (entries.get(profile.id) === entry) keysKept += keys.length - entry.keys.length;
    entry.keys = keys;
    entry.keysReadAtMs = readAtMs;
    entry.keysFailed = false;
    thinOutKeys();
  }

  /** Reads document and keys again when they are old. A provider that just failed is not asked again at once. */
  async function refresh(profile: Profile): Promise<Entry> {
    const entry = entryOf(profile);
    if (ageOf(entry.readAtMs) < FRESH_MS || ageOf(entry.failedAtMs) < COOL_DOWN_MS) return entry;
    await entry.once("read", () => read(profile, entry));
    return entry;
  }

  function ask(profile: Profile): Promise<Report> {
    const allowedOrigins = originsFor(deps.allowedOrigins, { purpose: "idp", storeId: profile.store_id });
    return examine({ send: sendTo(profile), clock, allowedOrigins }, profile.discovery_url);
  }

  const read = async (profile: Profile, entry: Entry): Promise<void> =>
    keep(profile, entry, await ask(profile));

  async function keep(
    profile: Profile,
    entry: Entry,
    { metadata, keys, issuer, unreachable }: Report,
  ): Promise<void> {
    entry.unread = unreachable ?? undefined;
    if (!metadata) {
      entry.failedAtMs = clock.monotonicMs();
      await noteIssuer(profile, issuer);
      return;
    }
    const columns = columnsFor({ ...profile, metadata: entry.metadata }, metadata, clock.now());
    const isNews =
      profile.metadata === null ||
      profile.pending ||
      profile.issuerFound ||
      !isSame(profile.metadata, metadata);
    if (isNews && Object.keys(columns).length > 0)
      await saveDocuments(deps, profile, { ...columns, read_at: clock.now() });
    else if (clock.now() - (profile.read_at ?? 0) > NOTED_EVERY_MS) await noteReading(deps, profile);
    entry.readAtMs = clock.monotonicMs();
    if (entry.metadata && hasDrifted(entry.metadata, metadata)) {
      // The provider answers, so what an administrator has seen stays in use, keys included: those of the new document may
      // be somebody else's.
      await readKeysAlone(profile, entry);
      return;
    }
    entry.metadata = metadata;
    keepKeys(profile, entry, keys, entry.readAtMs);
  }

  /** Of a document that was read and cannot be accepted: another issuer is why. */
  async function noteIssuer(profile: Profile, issuer: string | null): Promise<void> {
    if (issuer === null || issuer === profile.metadata?.issuer || issuer === profile.issuerFound?.issuer)
      return;
    await saveDocuments(deps, profile, movedTo(issuer, clock.now()));
  }

  async function readKeysAlone(profile: Profile, entry: Entry): Promise<void> {
    if (!entry.metadata) return;
    const keys = await fetchKeys(sendTo(profile), entry.metadata.jwksUri);
    if (keys) keepKeys(profile, entry, keys, clock.monotonicMs());
    else entry.keysFailed = true;
  }

  async function rereadKeys(profile: Profile, purpose: KeyPurpose): Promise<void> {
    const entry = await refresh(profile);
    await entry.once(`keys ${purpose}`, async () => {
      if (ageOf(entry.rereadAtMs[purpose]) < COOL_DOWN_MS) return;
      entry.rereadAtMs[purpose] = clock.monotonicMs();
      await readKeysAlone(profile, entry);
    });
  }

  /** A document from the database may be older than this process; it counts as read when it was accepted. */
  function usable({ readAtMs, metadata }: Entry): Metadata | undefined {
    const isUsable = readAtMs === Number.NEGATIVE_INFINITY || ageOf(readAtMs) < STALE_MS;
    return isUsable ? (metadata ?? undefined) : undefined;
  }

  const keysOf = (profile: Profile, purpose: KeyPurpose = "sign_on"): KeySource => ({
    async keyFor(kid, algorithm) {
      const entry = await refresh(profile);
      const isUsable = ageOf(entry.keysReadAtMs) < STALE_MS;
      const key = isUsable ? selectKey(entry.keys, kid, algorithm) : undefined;
      if (key) return key;
      await rereadKeys(profile, purpose);
      return ageOf(entry.keysReadAtMs) < STALE_MS ? selectKey(entry.keys, kid, algorithm) : undefined;
    },
    keysFailed: () => entryOf(profile).keysFailed,
    untilRereadMs() {
      const { keysReadAtMs, rereadAtMs } = entryOf(profile);
      return ageOf(keysReadAtMs) < JUST_NOW_MS ? 0 : Math.max(0, COOL_DOWN_MS - ageOf(rereadAtMs[purpose]));
    },
    reread: () => rereadKeys(profile, purpose),
  });

  return {
    metadataOf: async (profile) => usable(await refresh(profile)),
    async metadataAtHand(profile) {
      const entry = entryOf(profile);
      const known = entry.readAtMs === Number.NEGATIVE_INFINITY ? undefined : usable(entry);
      const refreshed = refresh(profile);
      if (!known) return usable(await refreshed);
      // Nobody waits for it: what cannot be written now is written after the next reading.
      refreshed.catch(() => {});
      return known;
    },
    async probe(profile) {
      const entry = entryOf(profile);
      await entry.once("read", () => read(profile, entry)).catch(() => {});
    },
    async check(profile) {
      const report = await ask(profile);
      await keep(profile, entryOf(profile), report);
      return report;
    },
    unreadOf: (profile) => entryOf(profile).unread,
    keysOf,
    clientOf: (profile, metadata, purpose) => ({
      clientId: profile.client_id,
      metadata,
      keys: keysOf(profile, purpose),
      send: (request) => calls.aboutCodes.send(profile.id, { ...request, storeId: profile.store_id }),
      clock,
    }),
  };
}

/** A profile without a document says nothing against one that was read meanwhile. */
const isStillOf = ({ discoveryUrl, metadata }: Entry, profile: Profile): boolean =>
  discoveryUrl === profile.discovery_url &&
  (profile.metadata === null || (metadata !== null && !hasDrifted(metadata, profile.metadata)));
