import type { Caller } from "../contract/caller.ts";
import { Problem } from "../contract/problem.ts";
import { createGroupCache, type GroupCache } from "../lib/cache.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import type { Allowance } from "../rate-limit/limiter.ts";
import type { Storage } from "../storage/storage.ts";
import { type AccessToken, readAccessToken } from "./access-token.ts";

/** Who is calling: the application key behind a good access token, with its share of the store's rate limit. */
export type Principal = AccessToken & Caller & { allowance: Allowance };

/** What the database says of a token. `null`: it was revoked or ended, or its key or store is gone. */
type Standing = { clientId: string; allowance: Allowance } | null;

/**
 * The one place where what the database says of a token is kept in memory. A store's entries go when the store
 * changes: at once when it was changed here, within a second when another process did it.
 */
export type Standings = GroupCache<Standing>;

const MAX_STANDINGS = 100_000;

export function createStandings({ storage }: { storage: Storage }): Standings {
  const standings = createGroupCache<Standing>(MAX_STANDINGS);
  storage.changes.listen((storeId) =>
    storeId === undefined ? standings.dropAll() : standings.drop(storeId),
  );
  return standings;
}

export type AuthenticateDeps = { storage: Storage; clock: Clock; keyring: Keyring; standings: Standings };

/** RFC 6750 2.1: `Bearer`, in any case, one space, one token. */
const BEARER = /^bearer ([\x21-\x7e]{1,512})$/i;

export async function authenticate(
  deps: AuthenticateDeps,
  authorization: string | undefined,
): Promise<Principal> {
  if (authorization === undefined) throw new Problem("token_missing");
  const text = BEARER.exec(authorization)?.[1];
  const principal = text === undefined ? undefined : await findPrincipal(deps, text);
  if (!principal) throw new Problem("token_invalid");
  return principal;
}

export async function findPrincipal(deps: AuthenticateDeps, text: string): Promise<Principal | undefined> {
  const token = readAccessToken(deps.keyring, text);
  if (!token || token.expiresAt <= deps.clock.now()) return undefined;
  const { storeId, tokenId } = token;
  const known = deps.standings.get(storeId, tokenId);
  const standing =
    known !== undefined
      ? known
      : await deps.standings.getOrLoad(storeId, tokenId, () => loadStanding(deps, token));
  return standing ? { ...token, ...standing } : undefined;
}

async function loadStanding({ storage: { db } }: AuthenticateDeps, token: AccessToken): Promise<Standing> {
  const row = await db
    .selectFrom("application_keys as key")
    .innerJoin("stores as store", "store.id", "key.store_id")
    .where("key.store_id", "=", token.storeId)
    .where("key.id", "=", token.keyId)
    .where("store.deleted_at", "is", null)
    // After a restore, tokens of before are dead.
    .where(({ eb, or }) =>
      or([eb("store.tokens_from", "is", null), eb("store.tokens_from", "<=", token.issuedAt)]),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("access_token_revocations")
            .select("token_id")
            .where("token_id", "=", token.tokenId)
            .where("store_id", "=", token.storeId),
        ),
      ),
    )
    .select([
      "key.client_id",
      "key.reserved_rate_limit",
      "store.rate_limit",
      "store.revision",
      "store.total_reserved_rate_limit",
    ])
    .executeTakeFirst();
  if (!row) return null;
  return {
    clientId: row.client_id,
    allowance: {
      revision: row.revision,
      rateLimit: row.rate_limit,
      totalReserved: row.total_reserved_rate_limit,
      reserved: row.reserved_rate_limit,
    },
  };
}
