import { randomBytes } from "node:crypto";
import { limits } from "../contract/limits.ts";
import type { Keyring } from "../lib/keyring.ts";
import { reseal, seal, unseal } from "../lib/seal.ts";
import { atMost } from "../storage/at-most.ts";
import type { Storage } from "../storage/storage.ts";
import type { IntegrationRow } from "./integration.ts";

type Deps = { keyring: Keyring };

const PURPOSE = "webhook-secret";
const SECRET_BYTES = 32;

/** A Standard Webhooks secret: base64 of 24 to 64 random bytes, with the prefix that secret scanners know. */
export const newSigningSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;

export const sealSecret = ({ keyring }: Deps, integrationId: string, secret: string): string =>
  seal(keyring, PURPOSE, integrationId, secret);

function open({ keyring }: Deps, integrationId: string, sealed: string): string {
  const secret = unseal(keyring, PURPOSE, integrationId, sealed);
  if (secret === undefined)
    throw new Error("a webhook's secret was sealed with a master key that is not here");
  return secret;
}

type Sealed = Pick<
  IntegrationRow,
  "id" | "sealed_secret" | "sealed_previous_secret" | "previous_until" | "sealed_secret_key"
>;

/** After a rotation the previous secret is valid for a day. */
export const hasPrevious = (row: Pick<Sealed, "sealed_previous_secret" | "previous_until">, now: number) =>
  row.sealed_previous_secret !== null && (row.previous_until ?? 0) > now;

/** The secrets that sign messages now, newest first. */
export const openSigningSecrets = (deps: Deps, row: Sealed, now: number): string[] => [
  open(deps, row.id, row.sealed_secret),
  ...openPrevious(deps, row, now).map(({ secret }) => secret),
];

type Previous = { secret: string; until: number };

/**
 * A single previous secret is valid until the row's `previous_until`; several are a list, newest first, each with its
 * own end.
 */
function openPrevious(deps: Deps, row: Sealed, now: number): Previous[] {
  const { id, sealed_previous_secret: sealed, previous_until: until } = row;
  if (sealed === null || until === null || !hasPrevious(row, now)) return [];
  const text = open(deps, id, sealed);
  const all: Previous[] = text.startsWith("[") ? JSON.parse(text) : [{ secret: text, until }];
  return all.filter((one) => one.until > now);
}

/** More than a person rotates in a day. Each secret adds a signature to every message. */
const PREVIOUS_KEPT = 10;

/** The previous secrets after a rotation: the current one for a day, and earlier ones until their own end. */
export function rotatedOut(deps: Deps, row: Sealed, now: number) {
  const until = now + limits.secretGraceSeconds * 1000;
  const secret = open(deps, row.id, row.sealed_secret);
  const earlier = openPrevious(deps, row, now);
  const all = [{ secret, until }, ...earlier].slice(0, PREVIOUS_KEPT);
  const text = earlier.length === 0 ? secret : JSON.stringify(all);
  // Sealed again with the first master key, because `rotate-keys` may have passed this column already.
  return { sealed_previous_secret: sealSecret(deps, row.id, text), previous_until: until };
}

export const openSecretKey = (deps: Deps, { id, sealed_secret_key: sealed }: Sealed): string | null =>
  sealed === null ? null : open(deps, id, sealed);

const PAGE = 200;
const COLUMNS = ["sealed_secret", "sealed_previous_secret", "sealed_secret_key"] as const;

/**
 * Seals every secret again with the first master key, so that the other master keys can be removed. Returns the number
 * of rows.
 */
export async function resealWebhookSecrets({
  storage: { db },
  keyring,
}: Deps & { storage: Storage }): Promise<{ resealed: number; kept: number }> {
  const counts = { resealed: 0, kept: 0 };
  for (let after = ""; ; ) {
    const rows = await db
      .selectFrom("integrations")
      .select(["id", "store_id", ...COLUMNS])
      .where("id", ">", after)
      .orderBy("id")
      .limit(atMost(PAGE))
      .execute();
    for (const row of rows) {
      let outcome: keyof typeof counts = "kept";
      for (const column of COLUMNS) {
        const sealed = row[column];
        const renewed =
          sealed && reseal(keyring, PURPOSE, row.id, sealed, `a secret of integration ${row.id}`);
        if (renewed === sealed) continue;
        outcome = "resealed";
        // Only if the row has not changed since it was read; a newer value is sealed with the first key already.
        await db
          .updateTable("integrations")
          .set({ [column]: renewed })
          .where("store_id", "=", row.store_id)
          .where("id", "=", row.id)
          .where(column, "=", sealed)
          .execute();
      }
      counts[outcome]++;
    }
    const last = rows.at(-1);
    if (!last) return counts;
    after = last.id;
  }
}
