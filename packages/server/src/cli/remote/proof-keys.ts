import { createApplicationKey, deleteApplicationKey } from "../../application-keys/administer.ts";
import { Problem } from "../../contract/problem.ts";
import { byOperator } from "../../events/event.ts";
import type { Clock } from "../../lib/clock.ts";
import { readPage } from "../../storage/lists/page.ts";
import type { Storage } from "../../storage/storage.ts";

/** The keys that `prove-limits` creates and deletes. */

type Deps = { storage: Storage; clock: Clock; publicUrl: string };
export type Made = {
  name: string;
  reserved: number;
  created: { id: string; client_id: string; client_secret: string };
};

export const STEADY_KEYS = 2;
const STEADY = Array.from({ length: STEADY_KEYS }, (_, index) => `steady ${index + 1}`);
const toFullName = (name: string): string => `prove-limits ${name}`;
const NAMES = ["public", "flood", ...STEADY].map(toFullName);

/** `made` receives each key as soon as it exists. */
export async function makeKeys(deps: Deps, storeId: string, part: number, made: Made[]): Promise<void> {
  const wanted = [
    { name: "public", reserved: 2 * part },
    { name: "flood", reserved: 0 },
    ...STEADY.map((name) => ({ name, reserved: part })),
  ];
  for (const { name, reserved } of wanted) {
    const { data: created } = await createApplicationKey(deps, byOperator(storeId), {
      name: toFullName(name),
      reserved_rate_limit: reserved,
    });
    made.push({ name, reserved, created });
  }
}

/**
 * Returns the ids of keys that could not be deleted. One failure does not keep the other keys, and a key that is gone
 * already is no failure.
 */
export async function deleteKeys(deps: Deps, storeId: string, ids: readonly string[]): Promise<string[]> {
  const left: string[] = [];
  for (const id of ids)
    await deleteApplicationKey(deps, byOperator(storeId), id).catch((error) => {
      const isGone = error instanceof Problem && error.code === "application_key_not_found";
      if (!isGone) left.push(id);
    });
  return left;
}

export function tellLeft(storeId: string, left: readonly string[]): void {
  process.exitCode = 1;
  console.error(
    `latchkey: these keys of the proof could not be deleted, and hold what they have reserved: ${left.join(", ")}; ` +
      `delete each with \`latchkey key delete --store ${storeId} --id <id>\``,
  );
}

/** A running proof uses each of its keys more often than this. */
const UNUSED_MS = 60_000;
const NEWEST = 100;

/** A killed proof leaves its keys, which hold their reservations. */
export async function deleteLeftKeys(deps: Deps, storeId: string): Promise<void> {
  const { storage, clock } = deps;
  const newestFirst = { sort: { field: "created_at", descending: true } };
  const page = { limit: NEWEST, offset: 0 };
  const { rows } = await readPage(storage, "application_keys", { store_id: storeId }, page, newestFirst);
  const isLeft = ({ name, created_at, last_used_at }: (typeof rows)[number]): boolean =>
    NAMES.includes(name) && clock.now() - (last_used_at ?? created_at) > UNUSED_MS;
  const ids = rows.filter(isLeft).map(({ id }) => id);
  if (ids.length === 0) return;
  console.error(`a proof that was killed has left keys, which are deleted now: ${ids.length}`);
  await deleteKeys(deps, storeId, ids);
}
