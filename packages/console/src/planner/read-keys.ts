import type { Admin, ApplicationKey, ApplicationKeyListMeta } from "@latchkey/sdk/admin";

type Read = { data: ApplicationKey[]; meta: ApplicationKeyListMeta };

/**
 * All keys: whichever one comes for, from its link on Keys, must be among them. There may be a hundred pages of them: `signal` ends the
 * reading of who has left the screen, or begins it again.
 */
export async function readKeys(
  { applicationKeys }: Pick<Admin, "applicationKeys">,
  signal?: AbortSignal,
): Promise<Read> {
  const list = applicationKeys.list({ limit: 100 });
  const { meta } = await list;
  const data: ApplicationKey[] = [];
  for await (const key of list.all()) {
    signal?.throwIfAborted();
    data.push(key);
  }
  return { data, meta };
}
