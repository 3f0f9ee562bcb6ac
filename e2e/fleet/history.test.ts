import { describe, expect, test } from "vitest";
import { type Deed, type Entry, type Fault, findViolations, type History, summarise } from "./history.ts";

/** The checker of histories reports every violation of an invariant, and nothing else. */

const SECOND = 1000;
const entry = (sentMs: number, deed: Deed, more: Partial<Entry> = {}): Entry => ({
  at: "A",
  sentMs,
  doneMs: sentMs + 10,
  status: 200,
  deed,
  ...more,
});
const history = (entries: Entry[], more: Partial<History> = {}): History => ({
  entries,
  faults: [],
  floors: new Map(),
  reservations: [],
  owners: new Map(),
  starved: [],
  looks: [],
  logs: "",
  secrets: [],
  ...more,
});
const fault = (fromMs: number, toMs: number, more: Partial<Fault> = {}): Fault => ({
  name: "something",
  fromMs,
  toMs,
  shows: ["unavailable"],
  ...more,
});
const broken = (entries: Entry[], more: Partial<History> = {}): string[] =>
  findViolations(history(entries, more)).map(({ invariant }) => invariant);

const write = (sentMs: number, value: string | undefined, more: Partial<Entry> = {}, updatedAt?: string) =>
  entry(sentMs, { did: "write", row: "key 1", value, ...(updatedAt && { updatedAt }) }, more);
const read = (sentMs: number, value: string | undefined, more: Partial<Entry> = {}) =>
  entry(sentMs, { did: "read", row: "key 1", value }, { status: value === undefined ? 404 : 200, ...more });
const inDoubt = { status: undefined };
const unavailable = { status: 503, retryAfter: "2" };

const signOn = (code: string, identity = "ada") =>
  entry(0, { did: "signOn", code, identity }, { status: 303 });
const redeem = (code: string, tokenId: string, customer = "c1", idempotencyKey?: string, sentMs = 100) =>
  entry(sentMs, { did: "redeem", code, idempotencyKey, given: { tokenId, customer } });

describe("I1, a code is exchanged at most once", () => {
  test("finds two tokens for one code, also with one Idempotency-Key", () => {
    expect(broken([signOn("x"), redeem("x", "t1"), redeem("x", "t2")])).toContain("I1");
    expect(broken([signOn("x"), redeem("x", "t1", "c1", "k"), redeem("x", "t2", "c1", "k")])).toContain("I1");
  });
  test("finds one token in answers to two different requests", () => {
    expect(broken([signOn("x"), redeem("x", "t1"), redeem("x", "t1")])).toEqual(["I1"]);
    expect(broken([signOn("x"), redeem("x", "t1", "c1", "k"), redeem("x", "t1", "c1", "other")])).toEqual([
      "I1",
    ]);
  });
  test("holds where an Idempotency-Key repeats an answer, and where the second request is refused", () => {
    const again = redeem("x", "t1", "c1", "k", 500);
    const refused = entry(900, { did: "redeem", code: "x" }, { status: 400 });
    expect(broken([signOn("x"), redeem("x", "t1", "c1", "k"), again, refused])).toEqual([]);
  });
});

describe("I2, an acknowledged write is there", () => {
  test("finds a read of an older value after an acknowledged write", () => {
    expect(broken([write(0, "one"), write(100, "two"), read(200, "one")])).toEqual(["I2"]);
  });
  test("finds a created row that is missing, and a deleted row that is there", () => {
    expect(broken([write(0, "one"), read(100, undefined)])).toEqual(["I2"]);
    expect(broken([write(0, "one"), write(100, undefined), read(200, "one")])).toEqual(["I2"]);
  });
  test("finds a value that no request wrote, or whose write was refused", () => {
    expect(broken([write(0, "one"), read(100, "else")])).toEqual(["I2"]);
    expect(broken([write(0, "one"), write(100, "two", { status: 409 }), read(200, "two")])).toEqual(["I2"]);
  });
  test("finds an unanswered write that takes effect long after a later acknowledged one", () => {
    const entries = [write(0, "one", unavailable), write(3 * SECOND, "two"), read(4 * SECOND, "one")];
    expect(broken(entries, { faults: [fault(0, 100)] })).toEqual(["I2"]);
  });
  test("holds for unanswered writes, carried out or not, and for reads beside a write", () => {
    const faults = [fault(100, 200, { shows: ["broken"] })];
    expect(broken([write(0, "one"), write(100, "two", inDoubt), read(200, "one")], { faults })).toEqual([]);
    expect(broken([write(0, "one"), write(100, "two", inDoubt), read(200, "two")], { faults })).toEqual([]);
    expect(broken([write(0, "one"), write(100, "two"), read(105, "one"), read(105, "two")])).toEqual([]);
    expect(broken([write(0, "one"), write(100, undefined), read(200, undefined)])).toEqual([]);
  });
  test("finds a valid token that is refused", () => {
    const make = entry(0, { did: "make", what: "t1" });
    const use = (sentMs: number, status: number) => entry(sentMs, { did: "use", what: "t1" }, { status });
    expect(broken([make, use(100, 403)])).toEqual(["I2"]);
    const useOfCode = entry(200, { did: "use", what: "token t1" }, { status: 403 });
    expect(broken([signOn("x"), redeem("x", "t1"), useOfCode])).toEqual(["I2"]);
    const revoke = entry(200, { did: "revoke", what: "t1" }, inDoubt);
    const faults = [fault(200, 210, { shows: ["broken"] })];
    expect(broken([make, use(100, 200), revoke, use(300, 403)], { faults })).toEqual([]);
  });
});

describe("I3, a token belongs to the sign-on of its code", () => {
  const owners = new Map([["t1", { customer: "c1", identity: "ada" }]]);
  test("finds a code that no sign-on issued", () => {
    expect(broken([redeem("x", "t1")], { owners })).toEqual(["I3"]);
  });
  test("finds a foreign identity, and a foreign customer", () => {
    expect(broken([signOn("x", "eve"), redeem("x", "t1")], { owners })).toEqual(["I3"]);
    expect(broken([signOn("x", "ada"), redeem("x", "t1", "c2")], { owners })).toEqual(["I3"]);
    expect(broken([signOn("x", "ada"), redeem("x", "t1", "c1")], { owners })).toEqual([]);
  });
});

describe("I4, a revoked token is refused everywhere within a second", () => {
  const revoke = entry(0, { did: "revoke", what: "t1" }, { status: 204 });
  const use = (sentMs: number, status = 200) =>
    entry(sentMs, { did: "use", what: "t1" }, { at: "B", status });
  test("finds a request that is served more than a second after the acknowledged revocation", () => {
    expect(broken([revoke, use(1.1 * SECOND)])).toEqual(["I4"]);
  });
  test("holds within the second, for refusals, and for an unacknowledged revocation", () => {
    expect(broken([revoke, use(0.9 * SECOND), use(1.1 * SECOND, 401)])).toEqual([]);
    const faults = [fault(0, 20)];
    expect(broken([{ ...revoke, ...unavailable }, use(1.1 * SECOND)], { faults })).toEqual([]);
  });
});

test("I5: one identity, two customers", () => {
  const two = [signOn("x"), signOn("y"), redeem("x", "t1", "c1"), redeem("y", "t2", "c2")];
  expect(broken(two)).toEqual(["I5"]);
  expect(
    broken([signOn("x", "ada"), signOn("y", "eve"), redeem("x", "t1", "c1"), redeem("y", "t2", "c2")]),
  ).toEqual([]);
});

describe("I6, a key within its floor is not refused", () => {
  const floors = new Map([["k", 3]]);
  const ask = (sentMs: number, status = 200) => entry(sentMs, { did: "other" }, { key: "k", status });
  test("finds a refusal of the third request in a second, with a floor of three", () => {
    expect(broken([ask(0), ask(300), ask(600, 429)], { floors })).toEqual(["I6"]);
  });
  test("holds for the fourth, for a key without a floor, and for delayed requests that were decided together", () => {
    expect(broken([ask(0), ask(300), ask(600), ask(900, 429)], { floors })).toEqual([]);
    expect(broken([ask(0, 429)])).toEqual([]);
    const waited = [0, 2, 4].map((second) => ({ ...ask(second * SECOND), doneMs: 5 * SECOND }));
    expect(broken([...waited, ask(4.9 * SECOND, 429)], { floors })).toEqual([]);
  });
});

describe("I6, a store gets no more than its limit and the documented burst", () => {
  const ceiling = { keys: new Set(["k", "l"]), limit: 2, reserve: 1 };
  const ask = (sentMs: number, key: string, more: Partial<Entry> = {}) =>
    entry(sentMs, { did: "other" }, { key, ...more });
  const crowd = (count: number) =>
    Array.from({ length: count }, (_, index) => ask(index, index % 2 ? "k" : "l"));
  test("finds six in a second, and fourteen in five, with a limit of two a second", () => {
    expect(broken(crowd(6), { ceiling })).toEqual(["I6"]);
    const spread = Array.from({ length: 14 }, (_, index) => ask(index * 350, "k"));
    expect(broken(spread, { ceiling })).toEqual(["I6"]);
  });
  test("holds for five, for refusals, for other keys, during a fault, and without a shared counter", () => {
    expect(broken(crowd(5), { ceiling })).toEqual([]);
    expect(broken([...crowd(5), ask(5, "k", { status: 429 }), ask(6, "other")], { ceiling })).toEqual([]);
    expect(broken(crowd(6), { ceiling, faults: [fault(0, 10)] })).toEqual([]);
    expect(broken(crowd(60))).toEqual([]);
  });
});

test("I7: reservations exceed the limit", () => {
  expect(broken([], { reservations: [{ reserved: 101, limit: 100 }] })).toEqual(["I7"]);
  expect(broken([], { reservations: [{ reserved: 100, limit: 100 }] })).toEqual([]);
});

describe("I8, instants do not go backward", () => {
  test("finds an updated_at that does not advance from one PUT to the next", () => {
    expect(broken([write(0, "one", {}, "12:00:01"), write(100, "two", {}, "12:00:01")])).toEqual(["I8"]);
    expect(broken([write(0, "one", {}, "12:00:02"), write(100, "two", {}, "12:00:01")])).toEqual(["I8"]);
    expect(broken([write(0, "one", {}, "12:00:01"), write(100, "two", {}, "12:00:02")])).toEqual([]);
  });
  test("finds a last_used_at that goes backward", () => {
    const used = (sentMs: number, lastUsedAt: string | null) =>
      entry(sentMs, { did: "read", row: "key 1", value: undefined, lastUsedAt });
    expect(broken([used(0, "12:00:02"), used(100, "12:00:01")])).toEqual(["I8"]);
    expect(broken([used(0, "12:00:02"), used(100, null)])).toEqual(["I8"]);
    expect(broken([used(0, null), used(100, "12:00:01"), used(200, "12:00:01")])).toEqual([]);
  });
});

describe("I9, without a fault no request fails or hangs", () => {
  const other: Deed = { did: "other" };
  test.each<[string, Partial<Entry>]>([
    ["a 503", unavailable],
    ["a broken connection", inDoubt],
    ["an answer that takes too long", { doneMs: 11 * SECOND }],
  ])("finds %s without a fault, during a fault of another instance, or long after a fault", (_, more) => {
    expect(broken([entry(0, other, more)])).toEqual(["I9"]);
    const shows = ["unavailable", "broken", "paused"] as const;
    expect(broken([entry(0, other, more)], { faults: [fault(0, 10, { at: "B", shows })] })).toEqual(["I9"]);
    const long = fault(-60 * SECOND, -50 * SECOND, { shows });
    expect(broken([entry(0, other, more)], { faults: [long] })).toEqual(["I9"]);
    expect(broken([entry(0, other, more)], { faults: [fault(0, 10, { shows })] })).toEqual([]);
  });
  test("excuses a 503 and a long wait of a busy machine, but no broken connection", () => {
    const starved = [{ fromMs: -1000, toMs: 0 }];
    expect(
      broken([entry(0, other, unavailable), entry(0, other, { doneMs: 11 * SECOND })], { starved }),
    ).toEqual([]);
    expect(broken([entry(0, other, inDoubt)], { starved })).toEqual(["I9"]);
    expect(broken([entry(11 * SECOND, other, unavailable)], { starved })).toEqual(["I9"]);
  });
  test("finds a broken connection while only 503s are explained", () => {
    expect(broken([entry(0, other, inDoubt)], { faults: [fault(0, 10)] })).toEqual(["I9"]);
  });
  test("finds another 5xx, and a 503 without Retry-After, during any fault", () => {
    const faults = [fault(0, 10)];
    expect(broken([entry(0, other, { status: 500, retryAfter: "2" })], { faults })).toEqual(["I9"]);
    expect(broken([entry(0, other, { status: 503 })], { faults })).toEqual(["I9"]);
  });
});

test("I10: a secret in a log line", () => {
  expect(broken([], { logs: "code=very-secret", secrets: ["very-secret"] })).toEqual(["I10"]);
  expect(broken([], { logs: "code=…", secrets: ["very-secret"] })).toEqual([]);
});

test("recovered › an instance serves everything and reports that it is well, before the next fault", () => {
  const look = (sentMs: number, isWell: boolean, at = "A") => ({ at, sentMs, isWell });
  const looks = [look(900, false), look(1500, false), look(2000, true), look(3000, false), look(9000, false)];
  const faults = [fault(0, SECOND), fault(8 * SECOND, 8.5 * SECOND, { at: "B" })];
  expect(summarise(history([], { faults, looks })).recoverySeconds).toBe(0.5);
});

test("the summary › counts, and shows the time from the end of the cause to the last failure", () => {
  const entries = [
    write(0, "one"),
    write(500, "two", unavailable),
    write(2 * SECOND, "three", { ...unavailable, doneMs: 2.5 * SECOND }),
    read(6 * SECOND, undefined),
    entry(7 * SECOND, { did: "other" }, { key: "k", status: 429 }),
  ];
  const summary = summarise(history(entries, { faults: [fault(400, SECOND)], floors: new Map([["k", 1]]) }));
  expect(summary).toEqual({
    sent: 5,
    acknowledged: 1,
    failed: 2,
    lost: 1,
    refusedByFloor: 1,
    recoverySeconds: 1.5,
  });
});
