import { type RawBuilder, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import type { EndedSession } from "../openid/logout-token.ts";
import { deleteOld } from "../storage/delete-old.ts";
import { hold, holdBeside } from "../storage/hold.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { KNOWN_MS } from "./claim-attempt.ts";

/**
 * Sessions that identity providers have ended lately. Whose shopper we were still asking about when the session ended has
 * neither code nor token that could be taken back: it is refused when it asks for one.
 */

type Deps = { storage: Storage; clock: Clock };
type OfProfile = { storeId: string; profileId: string };

/** No session and no subject of a provider is called this: theirs have at least one character. */
export const UNNAMED = "";

/** Committed before anything is taken back: whoever does not see it has what is then taken back. */
export async function noteEnded(
  { storage }: Deps,
  { storeId, profileId }: OfProfile,
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
          // A token that is sent again says nothing new.
          .where("ended_idp_sessions.ended_at", "<", endedAt),
      )
      .execute(),
  );
}

/** Who came back, with which session, and when. */
export type IdpSession = OfProfile & { subject: string; idpSession: string; since: number };

export const idpSessionOf = (
  place: OfProfile,
  { subject, idpSession }: { subject: string; idpSession: string | null },
  since: number,
): IdpSession => ({
  storeId: place.storeId,
  profileId: place.profileId,
  subject,
  idpSession: idpSession ?? UNNAMED,
  since,
});

/**
 * 1 if that session has ended since. By the same names as `isOf` in logout.ts, from the other side. Two looks, because PostgreSQL
 * does not go along the key for either half of an "or".
 */
export const endedSince = (came: IdpSession): RawBuilder<0 | 1> => {
  const { subject, idpSession } = came;
  const bySubject = sql`subject = ${subject} and (idp_session in (${idpSession}, ${NOTHING}) or ${idpSession} = ${NOTHING})`;
  const bySession = sql`subject = ${NOTHING} and idp_session = ${idpSession}`;
  return sql`case when ${isThere(came, bySubject)} or ${isThere(came, bySession)} then 1 else 0 end`;
};

const NOTHING = sql.lit(UNNAMED);

const isThere = (
  { storeId, profileId, since }: IdpSession,
  named: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  sql`exists (
    select 1 from ended_idp_sessions
    where store_id = ${storeId} and profile_id = ${profileId} and ${named} and ended_at >= ${since}
  )`;

const readEnded = statement((db, came: IdpSession) => db.selectNoFrom(endedSince(came).as("has_ended")));

/**
 * For a token that comes of no code: in the transaction that makes it, which ends before anything of the session is taken back,
 * or begins afterwards and sees that it has ended.
 */
export async function isEndedForGood(
  trx: Trx,
  { storage }: Pick<Deps, "storage">,
  came: IdpSession,
): Promise<boolean> {
  await holdBeside(trx, storage, nameOf(came));
  return (await readEnded.first(trx, came))?.has_ended === 1;
}

/** Waits for those who are making tokens without a code. */
export const holdEnding = (trx: Trx, { storage }: Pick<Deps, "storage">, of: OfProfile): Promise<void> =>
  hold(trx, storage, [nameOf(of)]);

const nameOf = ({ storeId, profileId }: OfProfile): string => `sessions ${storeId} ${profileId}`;

/** With the attempts that came back before: none of their codes is good any more. True: there are more. */
export const forgetEndedSessions = (deps: Deps): Promise<boolean> =>
  deleteOld(
    deps,
    "ended_idp_sessions",
    ["store_id", "profile_id", "subject", "idp_session"],
    "ended_at",
    deps.clock.now() - KNOWN_MS,
  );
