import type { Admin, ApplicationKey, ApplicationKeyListMeta } from "@latchkey/sdk/admin";

/** All keys: whichever one comes for, from its link on Keys, must be among them. */
export async function readKeys({
  applicationKeys,
}: Pick<Admin, "applicationKeys">): Promise<{ data: ApplicationKey[]; meta: ApplicationKeyListMeta }> {
  const list = applicationKeys.list({ limit: 100 });
  const { meta } = await list;
  const data: ApplicationKey[] = [];
  for await (const key of list.all()) data.push(key);
  return { data, meta };
}
