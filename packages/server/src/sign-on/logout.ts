import { sql } from "kysely";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { noteRevoked } from "../customers/customer-token.ts";
import { byProvider } from "../events/event.ts";
import type { Directory } from "../identity-provider/directory.ts";
import { verifyLogoutToken } from "../identity-provider/logout-token.ts";
import { findProfile } from "../identity-provider/profile.ts";
import type { Clock } from "../lib/clock.ts";
import { getRealm } from "../realms/realm.ts";
import type { Storage } from "../storage/storage.ts";
import type { Recorder } from "./record.ts";
import type { RecordLimiter } from "./record-limiter.ts";
import { noteRefusedLogout } from "./refused-logout.ts";
import { recordHead } from "./replay.ts";

/** No session of a provider is called this: theirs have at least one character. */
const UNNAMED = "";

type Deps = {
  storage: Storage;
  clock: Clock;
  directory: Directory;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
};

/**
 * An identity provider says that a session has ended (OpenID Connect Back-Channel Logout). The tokens that came of it go,
 * and so does a code that has not been redeemed yet: with `sid` alone those of that session, with `sub` alone all of the
 * subject's, with both those of that session and those of the subject that came without a `sid`. Also for a profile that
 * is disabled: ending is always allowed.
 */
export async function endIdpSession(
  deps: Deps,
  ids: { store: string; realm: string; profile: string },
  logoutToken: string,
  { requestId, source }: { requestId: string; source: string },
): Promise<Record<string, never>> {
  const key = { storeId: ids.store, realmId: ids.realm, profileId: ids.profile };
  await getRealm(deps, key.storeId, key.realmId);
  const profile = await findProfile(deps.storage.db, key);
  if (!profile) throw new Problem("profile_not_found");
  // Anybody may come here: where no document was ever accepted, nobody is asked for one on their behalf.
  const metadata = profile.metadata && (await deps.directory.metadataOf(profile));
  if (!metadata) throw new Problem("idp_unavailable", { retryAfterSeconds: 10 });
  const ended = await verifyLogoutToken(deps, profile, metadata, logoutToken);
  if ("reason" in ended) {
    await noteRefusedLogout(deps, profile, ended, source);
    throw new Problem("logout_token_invalid", { meta: { reason: ended.reason } });
  }
  const { subject, idpSession } = ended;
  // A token that is sent again later must not end what began after it. Clocks may be a minute apart.
  const latest = ended.issuedAt + limits.clockSkewSeconds * 1000;
  const voided = await deps.storage.transact(async (trx) => {
    let tokens = trx
      .deleteFrom("customer_tokens")
      .where("store_id", "=", profile.storeId)
      .where("profile_id", "=", profile.id)
      .where("created_at", "<=", latest);
    let codes = trx
      .updateTable("sign_on_attempts")
      .set({ state: "failed", identity: null })
      .where("store_id", "=", profile.storeId)
      .where("profile_id", "=", profile.id)
      .where("state", "=", "code_issued");
    if (subject !== null) {
      tokens = tokens.where("subject", "=", subject);
      codes = codes.where("subject", "=", subject);
    }
    if (idpSession !== null && subject === null) {
      tokens = tokens.where("idp_session", "=", idpSession);
      codes = codes.where("idp_session", "=", idpSession);
    } else if (idpSession !== null) {
      // Of a subject's sessions, one whose name we were never told may be the one that ended.
      const name = sql<string>`coalesce(idp_session, ${UNNAMED})`;
      tokens = tokens.where(name, "in", [idpSession, UNNAMED]);
      codes = codes.where(name, "in", [idpSession, UNNAMED]);
    }
    // Codes first: whoever is redeeming one at this moment is waited for, and its token is then there to be deleted.
    const attempts = await codes.returningAll().execute();
    const revoked = await tokens.returningAll().execute();
    await noteRevoked(trx, deps, byProvider(profile, requestId), revoked);
    return attempts;
  });
  for (const attempt of voided) {
    const outcome = { outcome: "failed", reason: "session_ended", customerId: null } as const;
    deps.recorder.count("failed", "session_ended");
    deps.recorder.noteExchange({ ...recordHead(attempt), ...outcome });
  }
  return {};
}
