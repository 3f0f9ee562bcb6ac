import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Database } from "../storage/storage.ts";
import type { EventRow } from "./event.ts";

type Range = { storeId: string; personId: string; from: number; to: number; limit: number };

const numbersBy = (column: "person_id" | "subject" | "actor_id") =>
  statement((db, of: Range) =>
    db
      .selectFrom("events")
      .select("sequence")
      .where("store_id", "=", of.storeId)
      .where(column, "=", of.personId)
      .where("sequence", ">", of.from)
      .where("sequence", "<=", of.to)
      .orderBy("sequence")
      .limit(atMost(of.limit)),
  );

const WALKS = [numbersBy("person_id"), numbersBy("subject"), numbersBy("actor_id")];

const PAGE = 100;

/**
 * The pages of the events that hold a person's data, are about the person, or were caused by the person, oldest first.
 * Each of the three has an index; the first numbers of all three are the numbers of a page.
 */
export async function* readEventsOf(
  db: Database,
  { storeId, personId, to }: Pick<Range, "storeId" | "personId" | "to">,
): AsyncGenerator<EventRow[], void> {
  for (let from = 0; ; ) {
    const range = { storeId, personId, from, to, limit: PAGE };
    const found = await Promise.all(WALKS.map((walk) => walk.all(db, range)));
    const numbers = [...new Set(found.flat().map(({ sequence }) => sequence))].sort((a, b) => a - b);
    const taken = numbers.slice(0, PAGE);
    const last = taken.at(-1);
    if (last === undefined) return;
    yield await db
      .selectFrom("events")
      .selectAll()
      .where("store_id", "=", storeId)
      .where("sequence", "in", taken)
      .orderBy("sequence")
      .execute();
    from = last;
  }
}
