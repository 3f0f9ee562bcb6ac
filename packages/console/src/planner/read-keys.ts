import type { Admin, ApplicationKey, ApplicationKeyListMeta } from "@latchkey/sdk/admin";

export type KeysRead = { data: ApplicationKey[]; meta: ApplicationKeyListMeta };

/**
 * All keys: whichever one comes for, from its link on Keys, must be among them. There may be a hundred pages of them: `signal` ends the
 * reading of who has left the screen, or begins it again.
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

/** With one of them as it is by now, and with the sum of what all have reserved. */
export function withKey({ data, meta }: KeysRead, changed: ApplicationKey): KeysRead {
  const before = data.find(({ id }) => id === changed.id)?.reserved_rate_limit ?? 0;
  const total = meta.total_reserved_rate_limit - before + changed.reserved_rate_limit;
  return {
    data: data.map((key) => (key.id === changed.id ? changed : key)),
    meta: { ...meta, total_reserved_rate_limit: total },
  };
}
