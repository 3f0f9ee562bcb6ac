import { sql } from "kysely";
import type { Caller } from "../../contract/caller.ts";
import { Problem } from "../../contract/problem.ts";
import { type By, byCaller } from "../../events/event.ts";
import { type EventDraft, noteEvents } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Page, Place } from "../../lib/condition.ts";
import { newId } from "../../lib/ids.ts";
import { type Signer, signJws } from "../../lib/jws.ts";
import { subnetOf } from "../../lib/source-address.ts";
import { describeUserAgent } from "../../lib/user-agent.ts";
import { issuerOf } from "../../realms/issuer.ts";
import type { SigningKeys } from "../../signing-keys/signing-keys.ts";
import { deleteOld } from "../../storage/delete-old.ts";
import { readPage } from "../../storage/lists/page.ts";
import { statement } from "../../storage/statement.ts";
import type { Storage, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { findCustomer, type Mechanism, refuseOthers } from "../customer.ts";
import { presentToken } from "../resource.ts";

/**
 * A customer token is a JWT (RFC 9068) that others can check with our key set, and a row that makes it listable and
 * revocable: without its row it is dead, whatever its signature says.
 */
type TokenGrant = {
  /** The token's id, where the statement that burnt the code has chosen it already. */
  tokenId?: string;
  storeId: string;
  realmId: string;
  clientId: string;
  customerId: string;
  mechanism: Mechanism;
  /** What the sign-on asked for, where it was more than the least. */
  scope?: string | null;
  from?: From | undefined;
  /** How the identity provider knows this session, so that it can end it. */
  through?: { profileId: string; profileName: string; subject: string; idpSession: string | null };
};

/** Where a customer is, by the request that asked for the token. */
export type From = { source: string; userAgent: string | undefined };

export type IssuedToken = {
  id: string;
  customerId: string;
  token: string;
  issuedAt: number;
  expiresAt: number;
};

type IssueDeps = { publicUrl: string; clock: Clock; customerTokenSeconds: number };

const TYPE = "at+jwt";
export const AMR: Record<Mechanism, string> = { password: "pwd", oidc: "fed" };

export const customerTokenEvent = (
  type: "customer_token.created" | "customer_token.revoked",
  token: Tables["customer_tokens"],
): EventDraft => ({ type, subject: token.id, personId: token.customer_id, resource: presentToken(token) });

/**
 * Runs inside the transaction that settled the customer, and notes what happened there with the token that came of it. The
 * signer is fetched before, because that may read the database.
 */
export async function issueToken(
  trx: Trx,
  deps: IssueDeps,
  signer: Signer,
  grant: TokenGrant,
  { by, happened = [] }: { by: By; happened?: readonly EventDraft[] },
): Promise<IssuedToken> {
  const { storeId, customerId, mechanism, through } = grant;
  const issuedAt = Math.floor(deps.clock.now() / 1000) * 1000;
  const expiresAt = issuedAt + deps.customerTokenSeconds * 1000;
  const id = grant.tokenId ?? newId();
  const row = {
    id,
    store_id: storeId,
    customer_id: customerId,
    mechanism,
    profile_id: through?.profileId ?? null,
    profile_name: through?.profileName ?? null,
    subject: through?.subject ?? null,
    idp_session: through?.idpSession ?? null,
    ...placeOf(grant.from),
    created_at: deps.clock.now(),
    expires_at: expiresAt,
  };
  await insertToken.later(trx, row);
  await noteEvents(trx, deps, by, [...happened, customerTokenEvent("customer_token.created", row)]);
  const token = signJws(signer, TYPE, {
    iss: issuerOf(deps, storeId, grant.realmId),
    sub: customerId,
    aud: deps.publicUrl,
    client_id: grant.clientId,
    iat: issuedAt / 1000,
    exp: expiresAt / 1000,
    jti: id,
    store_id: storeId,
    amr: [AMR[mechanism]],
    ...(grant.scope && { scope: grant.scope }),
    ...(through && { profile_id: through.profileId }),
  });
  return { id, customerId, token, issuedAt, expiresAt };
}

/** What the customer knows the session by. A storefront's server asks in nobody's browser, and its place says nothing. */
function placeOf(
  from: From | undefined,
): Pick<Tables["customer_tokens"], "browser" | "operating_system" | "network"> {
  const { browser, operatingSystem } = describeUserAgent(from?.userAgent);
  if (!from || browser === null) return { browser: null, operating_system: null, network: null };
  return { browser, operating_system: operatingSystem, network: subnetOf(from.source) };
}

const insertToken = statement((db, row: Tables["customer_tokens"]) =>
  db.insertInto("customer_tokens").values({
    id: row.id,
    store_id: row.store_id,
    customer_id: row.customer_id,
    mechanism: row.mechanism,
    profile_id: row.profile_id,
    profile_name: row.profile_name,
    subject: row.subject,
    idp_session: row.idp_session,
    browser: row.browser,
    operating_system: row.operating_system,
    network: row.network,
    created_at: row.created_at,
    expires_at: row.expires_at,
  }),
);

/**
 * The profile that the token came through, if any, is still there. Deleting a profile so ends all its tokens with one row,
 * however many there are; theirs go when they expire. A profile that is made again has another id, and revives none.
 */
const isOfLivingProfile = sql<boolean>`(customer_tokens.profile_id is null or exists (
  select 1 from oidc_profiles as profile
  where profile.store_id = customer_tokens.store_id and profile.id = customer_tokens.profile_id))`;

export type VerifyDeps = { publicUrl: string; storage: Storage; clock: Clock; signingKeys: SigningKeys };

/** A good token of this store, with its row; its row is asked for every time, so that a revoked one is dead at once. */
export async function findToken(
  deps: VerifyDeps,
  storeId: string,
  text: string,
): Promise<Tables["customer_tokens"] | undefined> {
  return (await findLiving(deps, storeId, text))?.row;
}

type Signed = { tokenId: string; issuer: string; clientId: unknown; scope: string | undefined };

/** What the text alone proves: ours, of this store, not expired. */
export async function readSigned(
  deps: VerifyDeps,
  storeId: string,
  text: string,
): Promise<Signed | undefined> {
  const jws = await deps.signingKeys.readSigned(text);
  if (!jws || jws.typ !== TYPE) return undefined;
  const { iss, aud, exp, jti, store_id, client_id: clientId, scope } = jws.claims;
  if (aud !== deps.publicUrl || store_id !== storeId || typeof jti !== "string") return undefined;
  if (typeof exp !== "number" || exp * 1000 <= deps.clock.now()) return undefined;
  return {
    tokenId: jti,
    issuer: String(iss),
    clientId,
    scope: typeof scope === "string" ? scope : undefined,
  };
}

const findRow = statement((db, of: { storeId: string; tokenId: string; now: number }) =>
  db
    .selectFrom("customer_tokens")
    .selectAll()
    .where("store_id", "=", of.storeId)
    .where("id", "=", of.tokenId)
    .where("expires_at", ">", of.now)
    .where(isOfLivingProfile),
);

/** A living token of this store, who has issued it, and to which client. */
export async function findLiving(deps: VerifyDeps, storeId: string, text: string) {
  const signed = await readSigned(deps, storeId, text);
  if (!signed) return undefined;
  const { tokenId, issuer, clientId, scope } = signed;
  const row = await findRow.first(deps.storage.db, { storeId, tokenId, now: deps.clock.now() });
  return row && { row, issuer, clientId, scope };
}

export type TokenList = {
  tokens: Tables["customer_tokens"][];
  place: Place;
  page: Page;
  customerId: string;
};

type ListDeps = { storage: Storage; clock: Clock };

export async function listTokens(
  { storage, clock }: ListDeps,
  caller: Caller,
  customerId: string,
  page: Page,
): Promise<TokenList> {
  await refuseUnknown(storage, caller, customerId);
  const of = { store_id: caller.storeId, customer_id: customerId };
  const only = sql<boolean>`expires_at > ${clock.now()} and ${isOfLivingProfile}`;
  const { rows, place } = await readPage(storage, "customer_tokens", of, page, { only });
  return { tokens: rows, place, page, customerId };
}

export async function revokeToken(
  deps: ListDeps,
  caller: Caller,
  customerId: string,
  tokenId: string,
): Promise<undefined> {
  await refuseUnknown(deps.storage, caller, customerId);
  await deps.storage.transact(async (trx) => {
    const revoked = await trx
      .deleteFrom("customer_tokens")
      .where("store_id", "=", caller.storeId)
      .where("customer_id", "=", customerId)
      .where("id", "=", tokenId)
      .where("expires_at", ">", deps.clock.now())
      .where(isOfLivingProfile)
      .returningAll()
      .execute();
    if (revoked.length === 0) throw new Problem("customer_token_not_found");
    await noteRevoked(trx, deps, byCaller(caller), revoked);
  });
}

/** Of tokens that are no longer there. */
export const noteRevoked = (
  trx: Trx,
  deps: { clock: Clock },
  by: By,
  tokens: readonly Tables["customer_tokens"][],
): Promise<void> =>
  noteEvents(
    trx,
    deps,
    by,
    tokens.map((token) => customerTokenEvent("customer_token.revoked", token)),
  );

/** By id alone, without asking whose it is: for callers that have verified the token itself. */
export async function deleteToken(deps: ListDeps, by: By, tokenId: string): Promise<void> {
  await deps.storage.transact(async (trx) => {
    const revoked = await trx
      .deleteFrom("customer_tokens")
      .where("store_id", "=", by.storeId)
      .where("id", "=", tokenId)
      .returningAll()
      .execute();
    await noteRevoked(trx, deps, by, revoked);
  });
}

export async function refuseUnknown({ db }: Storage, caller: Caller, customerId: string): Promise<void> {
  refuseOthers(caller, customerId);
  if (!(await findCustomer(db, caller.storeId, customerId))) throw new Problem("customer_not_found");
}

/** Of all stores, for an operator who is about to end them. */
export async function countLiveTokens({ storage, clock }: ListDeps): Promise<number> {
  const counted = await storage.db
    .selectFrom("customer_tokens")
    .where("expires_at", ">", clock.now())
    .select(({ fn }) => fn.countAll<number>().as("tokens"))
    .executeTakeFirstOrThrow();
  return counted.tokens;
}

/** True: there are more. */
export const forgetExpiredTokens = (deps: ListDeps): Promise<boolean> =>
  deleteOld(deps, "customer_tokens", ["id"], "expires_at", deps.clock.now());
