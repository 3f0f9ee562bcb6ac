import { type RawBuilder, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import type { Identity } from "../openid/identify.ts";
import type { EndedSession } from "../openid/logout-token.ts";
import type { ProfileKey } from "../profiles/profile.ts";
import { deleteOld } from "../storage/delete-old.ts";
import { hold, holdShared } from "../storage/hold.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { KNOWN_MS } from "./claim-attempt.ts";

/** Sessions that providers have ended lately. A sign-on in progress then is refused when it redeems its code. */

type Deps = { storage: Storage; clock: Clock };
type EndedProfile = Pick<ProfileKey, "storeId" | "profileId">;

/** In place of an absent session or subject. A provider's have at least one character. */
export const UNNAMED = "";

/** Commits before tokens are revoked. The token of a redeem that does not see this row is revoked afterwards. */
export async function noteEnded(
  { storage }: Deps,
  { storeId, profileId }: EndedProfile,
  { subject, idpSession }: EndedSession,
  endedAt: number,
): Promise<void> {
  await storage.write((db) =>
    db
      .insertInto("ended_idp_sessions")
      .values({
        store_id: storeId,
        profile_id: profileId,
        subject: subject ?? UNNAMED,
        idp_session: idpSession ?? UNNAMED,
        ended_at: endedAt,
      })
      .onConflict((conflict) =>
        conflict
          .columns(["store_id", "profile_id", "subject", "idp_session"])
          .doUpdateSet({ ended_at: endedAt })
          // A repeated logout token changes nothing.
          .where("ended_idp_sessions.ended_at", "<", endedAt),
      )
      .execute(),
  );
}

/** The provider's session of a sign-on. `since`: the time of the callback. */
export type IdpSession = ProfileKey & { subject: string; idpSession: string; since: number };

export const idpSessionOf = (
  key: ProfileKey,
  { subject, idpSession }: Pick<Identity, "subject" | "idpSession">,
  since: number,
): IdpSession => ({ ...key, subject, idpSession: idpSession ?? UNNAMED, since });

/**
 * 1 if the session has ended since. Matches subject and session by the rule of `isOfSession` in backchannel-logout.ts.
 * Two `exists`, because PostgreSQL uses no index for an `or`.
 */
export const endedSince = (session: IdpSession): RawBuilder<0 | 1> => {
  const { subject, idpSession } = session;
  const bySubject = sql`subject = ${subject} and (idp_session in (${idpSession}, ${UNNAMED_SQL}) or ${idpSession} = ${UNNAMED_SQL})`;
  const bySession = sql`subject = ${UNNAMED_SQL} and idp_session = ${idpSession}`;
  return sql`case when ${wasEnded(session, bySubject)} or ${wasEnded(session, bySession)} then 1 else 0 end`;
};

const UNNAMED_SQL = sql.lit(UNNAMED);

const wasEnded = (
  { storeId, profileId, since }: IdpSession,
  named: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  sql`exists (
    select 1 from ended_idp_sessions
    where store_id = ${storeId} and profile_id = ${profileId} and ${named} and ended_at >= ${since}
  )`;

const readEnded = statement((db, session: IdpSession) =>
  db.selectNoFrom(endedSince(session).as("has_ended")),
);

/**
 * For a token without a code of Latchkey's, in the transaction that issues it. The shared lock orders it with
 * `holdEnding`: either it commits before tokens are taken back, or it sees that the session has ended.
 */
export async function isSessionEnded(trx: Trx, session: IdpSession): Promise<boolean> {
  await holdShared(trx, nameOf(session));
  return (await readEnded.first(trx, session))?.has_ended === 1;
}

/** Takes the lock exclusively: waits for the transactions of `isSessionEnded`. */
export const holdEnding = (trx: Trx, profile: EndedProfile): Promise<void> => hold(trx, [nameOf(profile)]);

const nameOf = ({ storeId, profileId }: EndedProfile): string => `sessions ${storeId} ${profileId}`;

/** Deletes rows as old as the attempts that they could concern, which are deleted too. True: more are left. */
export const forgetEndedSessions = (deps: Deps): Promise<boolean> =>
  deleteOld(deps, "ended_idp_sessions", deps.clock.now() - KNOWN_MS);
