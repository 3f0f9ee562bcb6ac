import { changesOf } from "../../events/changes.ts";
import type { Happening } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { emailOf } from "../../lib/email-address.ts";
import type { Realm } from "../../realms/realm.ts";
import { atMost } from "../../storage/at-most.ts";
import { cameSecond, isUniqueViolation } from "../../storage/failures.ts";
import { hold } from "../../storage/hold.ts";
import { laterThan } from "../../storage/later-than.ts";
import type { Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { customerHappening, fromRow } from "../customer.ts";
import { presentMembers } from "../resource.ts";

type Row = Tables["customers"];
type Said = { email: string; emailVerified: boolean; name: string | null };
type Rules = Pick<Realm, "duplicateEmailPolicy">;
type Deps = { clock: Clock };

/** Name and e-mail of a known customer become what the provider says now. Undefined: they are already. */
export async function followProvider(
  trx: Trx,
  deps: Deps,
  realm: Rules,
  said: Said,
  known: Row,
): Promise<Happening | undefined> {
  const changed = await emailAfter(trx, realm, said, known);
  // Whose name nobody has said is called by their address (identity.ts): by the one that they have now.
  const standIn = known.name === known.email ? changed.email : undefined;
  const name = said.name ?? standIn ?? known.name;
  const columns: Partial<Row> = { ...(name !== known.name && { name }), ...changed };
  if (Object.keys(columns).length === 0) return undefined;
  const row = await trx
    .updateTable("customers")
    .set({ ...columns, updated_at: laterThan("updated_at", deps.clock.now()) })
    .where("store_id", "=", known.store_id)
    .where("id", "=", known.id)
    .where("updated_at", "=", known.updated_at)
    .returningAll()
    .executeTakeFirst()
    // The back office has given the address to somebody else a moment ago: the next try sees that.
    .catch((error) => {
      throw isUniqueViolation(error) ? cameSecond(error) : error;
    });
  // The customer was changed since it was read, maybe proven: what follows from that, the next try sees.
  if (!row) throw cameSecond(undefined);
  const [before, after] = [fromRow(known), fromRow(row)];
  const changes = changesOf(presentMembers(before), presentMembers(after));
  return changes && { ...customerHappening("customer.updated", after), changes };
}

/**
 * The rules of linking hold for a changed address as they do for a new person's: one that nobody has proven does not take the place
 * of one that was, and one that is another customer's proven one is not taken where the realm keeps them apart. Who has a
 * password signs in with the address, so two of those never share one. Whoever may not have it keeps the old one, and signs on.
 * Who began with a password keeps address and proof: both are the back office's word, which every realm believes (identity.ts).
 */
async function emailAfter(
  trx: Trx,
  { duplicateEmailPolicy }: Rules,
  said: Said,
  known: Row,
): Promise<Partial<Row>> {
  if (known.authentication_mechanism === "password") return {};
  const email = emailOf(said);
  if (email.key === known.email_key)
    return said.emailVerified && known.email_verified === 0 ? { email_verified: 1 } : {};
  if (!said.emailVerified && known.email_verified === 1) return {};
  const keepsApart = duplicateEmailPolicy !== "allowed";
  const hasPassword = known.password_hash !== null;
  if (keepsApart || hasPassword) {
    await hold(trx, [`email ${known.store_id} ${email.key}`]);
    const others = await listOthers(trx, known, email.key);
    const isTaken = others.some(
      (other) => (keepsApart && other.email_verified === 1) || (hasPassword && other.password_hash !== null),
    );
    if (isTaken) return {};
  }
  return { email: email.shown, email_key: email.key, email_verified: said.emailVerified ? 1 : 0 };
}

/** Other customers with this address that have proven it or sign in with a password; only those can conflict. */
const listOthers = (trx: Trx, { store_id, id }: Row, emailKey: string) =>
  trx
    .selectFrom("customers")
    .select(["email_verified", "password_hash"])
    .where("store_id", "=", store_id)
    .where("email_key", "=", emailKey)
    .where("id", "<>", id)
    .where(({ eb, or }) => or([eb("email_verified", "=", 1), eb("password_hash", "is not", null)]))
    .limit(atMost(100))
    .execute();
