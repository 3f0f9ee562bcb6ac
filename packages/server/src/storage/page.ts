import type { Database } from "./storage.ts";
import type { Tables } from "./tables.ts";

type Listed = "application_keys" | "authentication_realms" | "oidc_profiles";

/** One page of a store's rows, oldest first, and how many there are in all. `of` always names the store. */
export async function readPage<T extends Listed>(
  db: Database,
  table: T,
  of: { store_id: string; realm_id?: string },
  page: { limit: number; offset: number },
): Promise<{ rows: Tables[T][]; total: number }> {
  const rows = db
    .selectFrom(table as Listed)
    .where((eb) => eb.and(of))
    .orderBy("created_at")
    .orderBy("id")
    .limit(page.limit)
    .offset(page.offset)
    .selectAll();
  const count = db
    .selectFrom(table as Listed)
    .where((eb) => eb.and(of))
    .select(({ fn }) => fn.countAll<number>().as("total"));
  return {
    rows: (await rows.execute()) as Tables[T][],
    total: (await count.executeTakeFirstOrThrow()).total,
  };
}
