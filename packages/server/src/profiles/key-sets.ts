import type { Clock } from "../lib/clock.ts";
import type { KeySource } from "../openid/client.ts";
import type { Send } from "../openid/discovery.ts";
import { fetchKeys } from "../openid/fetch-keys.ts";
import { selectKey } from "../openid/keys.ts";
import type { CachedDocument, DocumentCache, KeyPurpose } from "./document-cache.ts";
import type { Profile } from "./profile.ts";

type Deps = {
  clock: Clock;
  cache: DocumentCache;
  sendTo(profile: Profile): Send;
  /** Reads document and keys again when they are old. */
  refresh(profile: Profile): Promise<CachedDocument>;
};

const STALE_MS = 24 * 3_600_000;
const COOL_DOWN_MS = 10_000;
const JUST_NOW_MS = 1000;

/** The providers' key sets, which are read with the document, and alone when a token has an unknown key. */
export class KeySets {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  of(profile: Profile, purpose: KeyPurpose): KeySource {
    const { cache, refresh } = this.#deps;
    return {
      keyFor: async (kid, algorithm) => {
        const entry = await refresh(profile);
        const select = () =>
          this.#ageOf(entry.keysReadAtMs) < STALE_MS ? selectKey(entry.keys, kid, algorithm) : undefined;
        const key = select();
        if (key) return key;
        await this.#reread(profile, purpose);
        return select();
      },
      keysFailed: () => cache.entryOf(profile).keysFailed,
      untilRereadMs: () => {
        const { keysReadAtMs, rereadAtMs } = cache.entryOf(profile);
        if (this.#ageOf(keysReadAtMs) < JUST_NOW_MS) return 0;
        return Math.max(0, COOL_DOWN_MS - this.#ageOf(rereadAtMs[purpose]));
      },
      reread: () => this.#reread(profile, purpose),
    };
  }

  /** Reads the key set that the approved document names. */
  async read(profile: Profile, entry: CachedDocument): Promise<void> {
    if (!entry.metadata) return;
    const { cache, clock, sendTo } = this.#deps;
    const keys = await fetchKeys(sendTo(profile), entry.metadata.jwksUri);
    if (keys) cache.keepKeys(profile, entry, keys, clock.monotonicMs());
    else entry.keysFailed = true;
  }

  async #reread(profile: Profile, purpose: KeyPurpose): Promise<void> {
    const entry = await this.#deps.refresh(profile);
    await entry.once(`keys ${purpose}`, async () => {
      if (this.#ageOf(entry.rereadAtMs[purpose]) < COOL_DOWN_MS) return;
      entry.rereadAtMs[purpose] = this.#deps.clock.monotonicMs();
      await this.read(profile, entry);
    });
  }

  #ageOf(atMs: number): number {
    return this.#deps.clock.monotonicMs() - atMs;
  }
}
