import { setImmediate } from "node:timers/promises";
import { type SqlBool, sql } from "kysely";
import type { Input } from "../contract/operation.ts";
import type * as contract from "../contract/sign-ons.ts";
import { atMost } from "../storage/at-most.ts";
import { type Statement, statement } from "../storage/statement.ts";
import type { Database } from "../storage/storage.ts";
import { addFigures, type SignOnFigures } from "./figures.ts";

export type SumsRange = {
  storeId: string;
  step: string;
  from: number;
  to: number;
  purpose: Input<typeof contract.getSignOnStatistics>["query"]["purpose"];
  mostRows: number;
  /** Makes the error for a range with more than `mostRows` rows. */
  onMoreRows(): Error;
};

/** The figures of a step at one profile or by one key. `groupId` is empty if it was not known. */
export type GroupSum = { startsAt: number; groupId: string; figures: SignOnFigures };

/**
 * By profile, oldest first. Members' sign-ons are a part of each row of `sign_on_statistics`. An earlier release has
 * written no parts: at a profile of the members' realm all sign-ons are members', at every other profile the rest are
 * shoppers'.
 */
export async function* readByProfile(db: Database, of: SumsRange): AsyncGenerator<GroupSum> {
  const membersProfiles = new Set((await listMembersProfiles.all(db, of)).map(({ id }) => id));
  for await (const row of readSlices<WholeRow>(db, WHOLE, of)) {
    const figures = figuresOf(row, of.purpose, membersProfiles.has(row.id));
    if (figures) yield { startsAt: row.starts_at, groupId: row.id, figures };
  }
}

function figuresOf(
  { figures: whole, of_members: part }: WholeRow,
  purpose: SumsRange["purpose"],
  isMembersProfile: boolean,
): SignOnFigures | undefined {
  if (isMembersProfile) return purpose === "members" ? JSON.parse(whole) : undefined;
  if (purpose === "members") return part === null ? undefined : JSON.parse(part);
  const figures: SignOnFigures = JSON.parse(whole);
  if (part !== null) addFigures(figures, JSON.parse(part), -1);
  return figures;
}

/**
 * By key, oldest first. The rest, which is in no key's part, comes first in each step and has no key. The parts are
 * read first: sign-ons that are added up in between then count under no key, and the sum is that of `readByProfile`.
 */
export async function* readByKey(db: Database, of: SumsRange): AsyncGenerator<GroupSum> {
  // No application key is a client of the members' realm.
  const keyParts = of.purpose === "members" ? new Map() : await readKeyParts(db, of);
  let rest: GroupSum | undefined;
  function* split(sum: GroupSum | undefined): Generator<GroupSum> {
    if (!sum) return;
    const parts: Map<string, SignOnFigures> = keyParts.get(sum.startsAt) ?? new Map();
    for (const part of parts.values()) addFigures(sum.figures, part, -1);
    yield sum;
    for (const [groupId, figures] of parts) yield { startsAt: sum.startsAt, groupId, figures };
  }
  for await (const { startsAt, figures } of readByProfile(db, of)) {
    if (rest?.startsAt === startsAt) addFigures(rest.figures, figures);
    else {
      yield* split(rest);
      rest = { startsAt, groupId: "", figures };
    }
  }
  yield* split(rest);
}

const listMembersProfiles = statement((db, of: { storeId: string }) =>
  db
    .selectFrom("oidc_profiles")
    .select("id")
    .where("store_id", "=", of.storeId)
    .where("purpose", "=", "members"),
);

/** By step and key. */
async function readKeyParts(db: Database, of: SumsRange): Promise<Map<number, Map<string, SignOnFigures>>> {
  const parts = new Map<number, Map<string, SignOnFigures>>();
  for await (const { starts_at, id, figures } of readSlices<SumRow>(db, KEY_PARTS, of)) {
    const ofStep = parts.get(starts_at) ?? new Map();
    parts.set(starts_at, ofStep.set(id, JSON.parse(figures)));
  }
  return parts;
}

/** Rows per statement. SQLite blocks the event loop while a statement runs. */
const SLICE = 1000;

type Slice = Pick<SumsRange, "storeId" | "step" | "from" | "to"> & { id: string };
type SumRow = { starts_at: number; id: string; figures: string };
/** `of_members`: the members' part of the figures, if there is one. */
type WholeRow = SumRow & { of_members: string | null };
type Slices<Row> = { first: Statement<Slice, Row>; next: Statement<Slice, Row> };

async function* readSlices<Row extends SumRow>(
  db: Database,
  { first, next }: Slices<Row>,
  { mostRows, onMoreRows, ...range }: SumsRange,
): AsyncGenerator<Row> {
  let [from, id] = [range.from, ""];
  for (let read = 0; ; ) {
    const rows = await (read === 0 ? first : next).all(db, { ...range, from, id });
    read += rows.length;
    if (read > mostRows) throw onMoreRows();
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < SLICE) return;
    [from, id] = [last.starts_at, last.id];
    await setImmediate();
  }
}

/** One statement reads the whole and its part, so that both are of the same moment. */
const wholeOf = (isFirst: boolean) =>
  statement(
    (db, of: Slice) =>
      db
        .selectFrom("sign_on_statistics as whole")
        .leftJoin("sign_on_statistics_parts as part", (join) =>
          join
            .onRef("part.store_id", "=", "whole.store_id")
            .on("part.kind", "=", "members")
            .onRef("part.step", "=", "whole.step")
            .onRef("part.starts_at", "=", "whole.starts_at")
            .onRef("part.part_id", "=", "whole.profile_id"),
        )
        .select(["whole.starts_at", "whole.profile_id as id", "whole.figures", "part.figures as of_members"])
        .where("whole.store_id", "=", of.storeId)
        .where("whole.step", "=", of.step)
        .where(
          isFirst
            ? sql<SqlBool>`whole.starts_at >= ${of.from}`
            : sql<SqlBool>`(whole.starts_at, whole.profile_id) > (${of.from}, ${of.id})`,
        )
        .where("whole.starts_at", "<", of.to)
        .orderBy("whole.starts_at")
        .orderBy("whole.profile_id")
        .limit(atMost(SLICE)),
    { isNamed: false },
  );

const keyPartsOf = (isFirst: boolean) =>
  statement(
    (db, of: Slice) =>
      db
        .selectFrom("sign_on_statistics_parts")
        .select(["starts_at", "part_id as id", "figures"])
        .where("store_id", "=", of.storeId)
        .where("kind", "=", "key")
        .where("step", "=", of.step)
        .where(
          isFirst
            ? sql<SqlBool>`starts_at >= ${of.from}`
            : sql<SqlBool>`(starts_at, part_id) > (${of.from}, ${of.id})`,
        )
        .where("starts_at", "<", of.to)
        .orderBy("starts_at")
        .orderBy("part_id")
        .limit(atMost(SLICE)),
    { isNamed: false },
  );

const WHOLE: Slices<WholeRow> = { first: wholeOf(true), next: wholeOf(false) };
const KEY_PARTS: Slices<SumRow> = { first: keyPartsOf(true), next: keyPartsOf(false) };
