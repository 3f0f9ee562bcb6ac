import type { ExpressionBuilder } from "kysely";
import type { Caller, Holder } from "../contract/caller.ts";
import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import { readBearer } from "../lib/bearer.ts";
import type { GroupCache } from "../lib/cache.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import { createMemo, type Memo } from "../lib/memo.ts";
import type { KeyAllowance } from "../rate-limit/limiter-state.ts";
import { statement } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { createStoreCache } from "../storage/store-cache.ts";
import type { Tables } from "../storage/tables.ts";
import { type AccessToken, readAccessToken } from "./access-token.ts";

/** The application key or the member of a valid access token, with its share of the store's rate limit. */
export type Principal = AccessToken & Omit<Caller, "requestId"> & { allowance: KeyAllowance };

/**
 * The two caches of access tokens. `tokens`: the data of each token whose HMAC was checked. `principals`: the token's
 * state in the database, `null` if the token was revoked or has ended, or if its key or store is gone. A store's
 * principals are dropped when the store changes: at once if this process changed it, within a second if another process
 * did.
 */
export type Standings = { tokens: Memo<AccessToken>; principals: GroupCache<Principal | null> };

const MAX_TOKENS = 20_000;
const MAX_PRINCIPALS = 100_000;

export function createStandings({ storage }: { storage: Storage }): Standings {
  return { tokens: createMemo(MAX_TOKENS), principals: createStoreCache({ storage }, MAX_PRINCIPALS) };
}

export type AuthenticateDeps = { storage: Storage; clock: Clock; keyring: Keyring; standings: Standings };

const MAX_TOKEN_LENGTH = 512;

export async function authenticate(
  deps: AuthenticateDeps,
  authorization: string | undefined,
): Promise<Principal> {
  if (authorization === undefined) throw new Problem("token_missing");
  const text = readBearer(authorization, MAX_TOKEN_LENGTH);
  const principal = text === undefined ? undefined : await findPrincipal(deps, text);
  if (!principal) throw new Problem("token_invalid");
  return principal;
}

export async function findPrincipal(deps: AuthenticateDeps, text: string): Promise<Principal | undefined> {
  const token = readToken(deps, text);
  if (!token || token.expiresAt <= deps.clock.now()) return undefined;
  const { storeId, tokenId } = token;
  const { principals } = deps.standings;
  const principal =
    principals.get(storeId, tokenId) ??
    (await principals.getOrLoad(storeId, tokenId, () => loadPrincipal(deps, token)));
  return principal ?? undefined;
}

function readToken(
  { keyring, standings: { tokens } }: AuthenticateDeps,
  text: string,
): AccessToken | undefined {
  const known = tokens.get(text);
  if (known) return known;
  const token = readAccessToken(keyring, text);
  if (token) tokens.keep(text, token);
  return token;
}

async function loadPrincipal(
  { storage: { db } }: AuthenticateDeps,
  token: AccessToken,
): Promise<Principal | null> {
  const id = token.holderId;
  if (token.grant === "member") {
    const row = await findMemberStanding.first(db, token);
    if (!row) return null;
    // A member has no reservation: each member draws on the shared pool of the store.
    const { name, email } = row;
    return principalOf(token, { type: "member", id, name, email }, { ...row, reserved_rate_limit: 0 });
  }
  const row = await findStanding.first(db, token);
  if (!row) return null;
  return principalOf(token, { type: "application_key", id, name: row.name, clientId: row.client_id }, row);
}

type KeyStanding = Pick<Tables["stores"], "revision" | "rate_limit" | "total_reserved_rate_limit"> &
  Pick<Tables["application_keys"], "role" | "reserved_rate_limit">;

const principalOf = (token: AccessToken, holder: Holder, row: KeyStanding): Principal => ({
  ...token,
  holder,
  role: token.grant === "implicit" ? null : (row.role as Role),
  allowance: {
    revision: row.revision,
    rateLimit: row.rate_limit,
    totalReserved: row.total_reserved_rate_limit,
    reserved: row.reserved_rate_limit,
  },
});

const OF_STORE = ["store.rate_limit", "store.revision", "store.total_reserved_rate_limit"] as const;

/**
 * The join with the profile that the member signed in through makes the member's tokens invalid when the profile is
 * deleted or disabled. `tokens_from` keeps them invalid when the profile is enabled again. Customer tokens of a
 * disabled profile stay valid.
 */
const findMemberStanding = statement((db, token: AccessToken) =>
  db
    .selectFrom("members as member")
    .innerJoin("stores as store", "store.id", "member.store_id")
    .innerJoin("oidc_profiles as profile", (join) =>
      join.onRef("profile.store_id", "=", "member.store_id").onRef("profile.id", "=", "member.profile_id"),
    )
    .where("member.store_id", "=", token.storeId)
    .where("member.id", "=", token.holderId)
    .where((eb) => isGood(eb, token))
    .where("profile.enabled", "=", 1)
    .where((eb) =>
      eb.or([eb("profile.tokens_from", "is", null), eb("profile.tokens_from", "<=", token.issuedAt)]),
    )
    .select(["member.name", "member.email", "member.role", ...OF_STORE]),
);

/** The conditions for every access token, of an application key and of a member. */
function isGood(eb: ExpressionBuilder<Tables & { store: Tables["stores"] }, "store">, token: AccessToken) {
  return eb.and([
    eb("store.deleted_at", "is", null),
    // A restore sets `tokens_from`, so all earlier tokens are invalid.
    eb.or([eb("store.tokens_from", "is", null), eb("store.tokens_from", "<=", token.issuedAt)]),
    eb.not(
      eb.exists(
        eb
          .selectFrom("access_token_revocations")
          .select("token_id")
          .where("token_id", "=", token.tokenId)
          .where("store_id", "=", token.storeId),
      ),
    ),
  ]);
}

const findStanding = statement((db, token: AccessToken) =>
  db
    .selectFrom("application_keys as key")
    .innerJoin("stores as store", "store.id", "key.store_id")
    .where("key.store_id", "=", token.storeId)
    .where("key.id", "=", token.holderId)
    .where((eb) => isGood(eb, token))
    .select(["key.client_id", "key.name", "key.role", "key.reserved_rate_limit", ...OF_STORE]),
);
