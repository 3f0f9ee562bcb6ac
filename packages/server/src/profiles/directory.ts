import { originsFor } from "../lib/allowed-origins.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdpClient, KeySource } from "../openid/client.ts";
import type { DocumentFailure, Metadata, Send } from "../openid/discovery.ts";
import { examine, type Report } from "../openid/doctor.ts";
import type { Storage } from "../storage/storage.ts";
import type { Calls } from "./calls.ts";
import { type CachedDocument, DocumentCache, type KeyPurpose, NEVER } from "./document-cache.ts";
import { columnsFor, hasDrifted, isSame, movedTo } from "./drift.ts";
import { KeySets } from "./key-sets.ts";
import type { Profile } from "./profile.ts";
import { noteReading, saveDocuments } from "./save-documents.ts";

const FRESH_MS = 5 * 60_000;
const STALE_MS = 24 * 3_600_000;
const COOL_DOWN_MS = 10_000;
/** How often `read_at` is written when a document was read and has not changed. */
const NOTED_EVERY_MS = 6 * 3_600_000;

type Deps = {
  storage: Storage;
  clock: Clock;
  calls: Calls;
  allowedOrigins: readonly string[];
  maxKeys?: number;
};

/**
 * The documents and key sets of identity providers. A document is read when it is needed and older than five minutes,
 * is used for a day while it cannot be read again, and is replaced as a whole. While another document waits for
 * approval, the approved one stays in use for as long as the provider answers. Nothing is read at start-up.
 */
export class Directory {
  readonly #deps: Deps;
  readonly #clock: Clock;
  readonly #cache: DocumentCache;
  readonly #keySets: KeySets;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#clock = deps.clock;
    this.#cache = new DocumentCache(deps.calls.forgetAlone, deps.maxKeys);
    this.#keySets = new KeySets({
      clock: deps.clock,
      cache: this.#cache,
      sendTo: (profile) => this.#sendTo(profile),
      refresh: (profile) => this.#refresh(profile),
    });
  }

  /** The approved document, or undefined when no document was read yet, or none for a day. */
  async metadataOf(profile: Profile): Promise<Metadata | undefined> {
    return this.#usable(await this.#refresh(profile));
  }

  /** The same without waiting, where this process has read a document before: an old one is read again meanwhile. */
  async metadataAtHand(profile: Profile): Promise<Metadata | undefined> {
    const entry = this.#cache.entryOf(profile);
    const known = entry.readAtMs === NEVER ? undefined : this.#usable(entry);
    const refreshed = this.#refresh(profile);
    if (!known) return this.#usable(await refreshed);
    // Not awaited: if the write fails, the next reading writes it.
    refreshed.catch(() => {});
    return known;
  }

  /** Reads the document now, however young it is, and never fails: to find out whether a provider answers again. */
  async probe(profile: Profile): Promise<void> {
    const entry = this.#cache.entryOf(profile);
    await entry.once("read", () => this.#read(profile, entry)).catch(() => {});
  }

  /** Examines the provider for an administrator. A drift is stored as after any other reading. */
  async check(profile: Profile): Promise<Report> {
    const report = await this.#examine(profile);
    await this.#keep(profile, this.#cache.entryOf(profile), report);
    return report;
  }

  /** Why the document could not be read the last time, if it could not. */
  failureOf(profile: Profile): DocumentFailure | undefined {
    return this.#cache.entryOf(profile).failure;
  }

  /** Latchkey as the client of the profile's provider. */
  clientOf(profile: Profile, metadata: Metadata, purpose?: KeyPurpose): IdpClient {
    const { calls, clock } = this.#deps;
    return {
      clientId: profile.client_id,
      metadata,
      keys: this.keysOf(profile, purpose),
      send: (request) => calls.aboutCodes.send(profile.id, { ...request, storeId: profile.store_id }),
      clock,
    };
  }

  keysOf(profile: Profile, purpose: KeyPurpose = "sign_on"): KeySource {
    return this.#keySets.of(profile, purpose);
  }

  #ageOf(atMs: number): number {
    return this.#clock.monotonicMs() - atMs;
  }

  #sendTo({ id, store_id: storeId }: Profile): Send {
    return (request) => this.#deps.calls.send(id, { ...request, storeId });
  }

  /** Until this process has read a document, the stored document counts as fresh. */
  #usable({ readAtMs, metadata }: CachedDocument): Metadata | undefined {
    const isUsable = readAtMs === NEVER || this.#ageOf(readAtMs) < STALE_MS;
    return isUsable ? (metadata ?? undefined) : undefined;
  }

  /** Reads document and keys again when they are old. A provider that has just failed is not asked again at once. */
  async #refresh(profile: Profile): Promise<CachedDocument> {
    const entry = this.#cache.entryOf(profile);
    if (this.#ageOf(entry.readAtMs) < FRESH_MS || this.#ageOf(entry.failedAtMs) < COOL_DOWN_MS) return entry;
    await entry.once("read", () => this.#read(profile, entry));
    return entry;
  }

  async #read(profile: Profile, entry: CachedDocument): Promise<void> {
    await this.#keep(profile, entry, await this.#examine(profile));
  }

  #examine(profile: Profile): Promise<Report> {
    const use = { purpose: "idp", storeId: profile.store_id } as const;
    const allowedOrigins = originsFor(this.#deps.allowedOrigins, use);
    const deps = { send: this.#sendTo(profile), clock: this.#clock, allowedOrigins };
    return examine(deps, profile.discovery_url);
  }

  async #keep(profile: Profile, entry: CachedDocument, report: Report): Promise<void> {
    const { metadata, keys, issuer, unreachable } = report;
    entry.failure = unreachable ?? undefined;
    if (!metadata) {
      entry.failedAtMs = this.#clock.monotonicMs();
      await this.#saveIssuer(profile, issuer);
      return;
    }
    await this.#save(profile, entry, metadata);
    entry.readAtMs = this.#clock.monotonicMs();
    if (entry.metadata && hasDrifted(entry.metadata, metadata)) {
      // The approved document stays in use, with the keys that it names: the new document may be an attacker's.
      await this.#keySets.read(profile, entry);
      return;
    }
    entry.metadata = metadata;
    this.#cache.keepKeys(profile, entry, keys, entry.readAtMs);
  }

  async #save(profile: Profile, entry: CachedDocument, metadata: Metadata): Promise<void> {
    const now = this.#clock.now();
    const columns = columnsFor({ ...profile, metadata: entry.metadata }, metadata, now);
    const isNews =
      profile.metadata === null ||
      profile.pending ||
      profile.issuerFound ||
      !isSame(profile.metadata, metadata);
    if (isNews && Object.keys(columns).length > 0)
      await saveDocuments(this.#deps, profile, { ...columns, read_at: now });
    else if (now - (profile.read_at ?? 0) > NOTED_EVERY_MS) await noteReading(this.#deps, profile);
  }

  /** Stores the issuer of a document that was refused because it names another issuer. */
  async #saveIssuer(profile: Profile, issuer: string | null): Promise<void> {
    if (issuer === null || issuer === profile.metadata?.issuer || issuer === profile.issuerFound?.issuer)
      return;
    await saveDocuments(this.#deps, profile, movedTo(issuer, this.#clock.now()));
  }
}
