import type { Admin, ApplicationKey, ApplicationKeyListMeta } from "@latchkey/sdk/admin";

export type KeysRead = { data: ApplicationKey[]; meta: ApplicationKeyListMeta };

/**
 * Reads all keys, because a link may name any key. There may be a hundred pages; `signal` stops the reading
 * when the person leaves the screen or the query restarts.
 */
export async function readKeys(
  { applicationKeys }: Pick<Admin, "applicationKeys">,
  signal?: AbortSignal,
): Promise<KeysRead> {
  const list = applicationKeys.list({ limit: 100 });
  const { meta } = await list;
  const data: ApplicationKey[] = [];
  for await (const key of list.all()) {
    signal?.throwIfAborted();
    data.push(key);
  }
  return { data, meta };
}

/** Replaces a key by its new state, and corrects the sum of reserved rates. */
export function withKey({ data, meta }: KeysRead, changed: ApplicationKey): KeysRead {
  const before = data.find(({ id }) => id === changed.id)?.reserved_rate_limit ?? 0;
  const total = meta.total_reserved_rate_limit - before + changed.reserved_rate_limit;
  return {
    data: data.map((key) => (key.id === changed.id ? changed : key)),
    meta: { ...meta, total_reserved_rate_limit: total },
  };
}
