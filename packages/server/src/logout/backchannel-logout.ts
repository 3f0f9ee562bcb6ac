import { type NotNull, type RawBuilder, type SqlBool, sql } from "kysely";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { RequestOf } from "../contract/request.ts";
import type * as contract from "../contract/sign-on.ts";
import { revokeWhere, thinOutForRevocation } from "../customers/tokens/revoke-tokens.ts";
import { byProvider } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import { type EndedSession, verifyLogoutToken } from "../openid/logout-token.ts";
import type { Directory } from "../profiles/directory.ts";
import { algorithmSeen } from "../profiles/live-evidence.ts";
import { findProfile, type Profile } from "../profiles/profile.ts";
import { getRealm } from "../realms/realm.ts";
import { holdEnding, noteEnded, UNNAMED } from "../sign-on/ended-sessions.ts";
import { revokeAccessToken } from "../sign-on/replayed-code.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { touchStore } from "../stores/store.ts";
import { noteRefusedLogout } from "./refused-logout.ts";

type Deps = {
  storage: Storage;
  clock: Clock;
  directory: Directory;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
  codeSeconds: number;
};

/**
 * An identity provider reports that a session has ended (OpenID Connect Back-Channel Logout). Revokes the customer
 * tokens and members' access tokens of the session, voids its codes, and refuses its sign-ons in progress. A disabled
 * profile's provider may, too.
 */
export async function endIdpSession(
  deps: Deps,
  { ids, body, requestId, source }: RequestOf<typeof contract.backchannelLogout>,
): Promise<Record<string, never>> {
  const key = { storeId: ids.store, realmId: ids.realm, profileId: ids.profile };
  const realm = await getRealm(deps, key.storeId, key.realmId);
  const isOfMembers = realm.purpose === "members";
  const profile = await findProfile(deps.storage.db, key);
  if (!profile) throw new Problem("profile_not_found");
  // Strangers may call this. For a profile without an accepted document they cause no request to a provider.
  const metadata = profile.metadata && (await deps.directory.metadataOf(profile));
  if (!metadata) throw new Problem("idp_unavailable", { retryAfterSeconds: 10 });
  const client = deps.directory.clientOf(profile, metadata, "logout");
  const ended = await verifyLogoutToken(client, body.logout_token, await algorithmSeen(deps, profile));
  if ("reason" in ended) {
    await noteRefusedLogout(deps, profile, ended, source);
    if (ended.reason === "logout_token.keys_unread")
      throw new Problem("idp_unavailable", { retryAfterSeconds: 10 });
    throw new Problem("logout_token_invalid", { meta: { reason: ended.reason } });
  }
  // A repeated token must not end sessions that began after it was issued. Clocks may differ by a minute.
  const latest = ended.issuedAt + limits.clockSkewSeconds * 1000;
  const isEnded = isOfSession(ended);
  const ofProfile = { storeId: profile.store_id, profileId: profile.id };
  await noteEnded(deps, ofProfile, ended, Math.min(latest, deps.clock.now()));
  const by = byProvider(profile, requestId);
  const isOfToken = sql<SqlBool>`profile_id = ${profile.id} and created_at <= ${latest} and ${isEnded}
    and ${isOfIssuer(profile, metadata.issuer, ended)}`;
  await thinOutForRevocation(deps, by, { where: isOfToken, along: [] });
  const voided = await deps.storage.transact(async (trx) => {
    await holdEnding(trx, ofProfile);
    // Codes first: this update waits for a transaction that is burning a code, and its token is then found below.
    const attempts = await trx
      .updateTable("sign_on_attempts")
      .set({ state: "failed", identity: null })
      .where("store_id", "=", profile.store_id)
      .where("profile_id", "=", profile.id)
      .where("state", "=", "code_issued")
      .where("code_expires_at", "<=", latest + deps.codeSeconds * 1000)
      .where(isEnded)
      .returningAll()
      .execute();
    await revokeWhere(trx, deps, by, isOfToken);
    if (isOfMembers) await revokeAccessTokens(trx, profile, latest, isEnded);
    return attempts;
  });
  if (isOfMembers) deps.storage.changes.announce(profile.store_id);
  for (const attempt of voided) {
    deps.recorder.count("failed", "session_ended");
    deps.recorder.noteExchange(attempt, { outcome: "failed", reason: "session_ended", isOfMembers });
  }
  return {};
}

/** Rows of the ended session: by `sid`, by `sub` (all of the subject's sessions), or by both. */
function isOfSession({ subject, idpSession }: EndedSession): RawBuilder<SqlBool> {
  if (subject === null) return sql`idp_session = ${idpSession}`;
  if (idpSession === null) return sql`subject = ${subject}`;
  // A session whose `sid` is unknown may be the one that ended.
  return sql`subject = ${subject} and coalesce(idp_session, ${UNNAMED}) in (${idpSession}, ${UNNAMED})`;
}

/**
 * A token is kept if only an issuer that this profile no longer uses knows its customer by this subject. The token
 * itself has no issuer, so its customer's identities decide.
 */
function isOfIssuer(
  { id, former_profile_ids: formerIds, former_issuers: formerIssuers }: Profile,
  issuer: string,
  { subject }: EndedSession,
): RawBuilder<SqlBool> {
  const issuers = sql.join([issuer, ...formerIssuers.map((former) => former.issuer)]);
  const isOfProfile = sql`known.profile_id in (${sql.join([id, ...formerIds])}) and known.subject = ${subject}`;
  return sql`coalesce((
    select max(case when ${isOfProfile} then case when known.issuer in (${issuers}) then 1 else 0 end end)
    from customer_identities as known
    where known.store_id = customer_tokens.store_id and known.customer_id = customer_tokens.customer_id
  ), 1) = 1`;
}

/** Access tokens are not stored, but their attempts outlive them. The store's revision tells all instances. */
async function revokeAccessTokens(
  trx: Trx,
  { store_id: storeId, id: profileId }: Pick<Profile, "store_id" | "id">,
  latest: number,
  isEnded: RawBuilder<SqlBool>,
): Promise<void> {
  const attempts = await trx
    .selectFrom("sign_on_attempts")
    .select(["token_id", "exchanged_at"])
    .where("store_id", "=", storeId)
    .where("profile_id", "=", profileId)
    .where("state", "=", "exchanged")
    .where("exchanged_at", "<=", latest)
    .where(isEnded)
    .$narrowType<{ token_id: NotNull; exchanged_at: NotNull }>()
    .execute();
  for (const attempt of attempts) await revokeAccessToken(trx, storeId, attempt);
  if (attempts.length > 0) await touchStore(trx, storeId);
}
