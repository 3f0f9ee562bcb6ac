import type { Event, EventPage, EventQuery } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { readBefore } from "./read-before.ts";

/** A log as the service lists it: oldest first, from a number on that is still kept. */
function logOf(types: readonly string[], first = 1) {
  const all = types.map((type, at) => ({ sequence: String(at + 1), type }) as Event);
  let asked = 0;
  const list = async ({ after, types: wanted, limit = 25 }: EventQuery = {}): Promise<EventPage> => {
    asked++;
    if (after !== undefined && Number(after) + 1 < first) throw new Error("events_gone");
    const kept = all.filter(
      ({ sequence }) => Number(sequence) > Number(after ?? 0) && Number(sequence) >= first,
    );
    const meant = kept.filter(({ type }) => wanted?.includes(type) ?? true);
    const data = meant.slice(0, limit);
    const next = meant.length > limit ? { after: data.at(-1)?.sequence } : undefined;
    return { data, lastSequence: String(all.length), next };
  };
  return { events: { list }, asked: () => asked };
}

const numbers = ({ events }: { events: Event[] }) => events.map(({ sequence }) => Number(sequence));
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, at) => from - at);

test("the newest events come first, and each call continues where the previous one ended", async () => {
  const log = logOf(Array(120).fill("customer.created"));
  const [one, two, three] = [
    await readBefore(log),
    await readBefore(log, {}, 71),
    await readBefore(log, {}, 21),
  ];
  expect([one, two, three].flatMap(numbers)).toEqual(down(120, 1));
  expect([one.before, two.before, three.before]).toEqual([71, 21, undefined]);
});

test("a log without its first events ends at the oldest kept event, even if few or none are left", async () => {
  const types = Array(1000).fill("customer.created");
  const few = await readBefore(logOf(types, 971));
  expect([numbers(few), few.before]).toEqual([down(1000, 971), undefined]);
  const rest = await readBefore(logOf(types, 930), {}, 951);
  expect([numbers(rest), rest.before]).toEqual([down(950, 930), undefined]);
  expect(await readBefore(logOf(types, 1001))).toEqual({ events: [], before: undefined });
  expect(await readBefore(logOf([]))).toEqual({ events: [], before: undefined });
});

test("the last events of a rare type in a long log are found in few requests", async () => {
  const types = Array(100_000).fill("customer_token.created");
  for (const at of [4, 5, 6, 70_000]) types[at - 1] = "store.updated";
  const log = logOf(types);
  const found = await readBefore(log, { types: ["store.updated"] });
  expect([numbers(found), found.before]).toEqual([[70_000, 6, 5, 4], undefined]);
  expect(log.asked()).toBeLessThan(30);
});

test("of a frequent type the last events come first, and none is left out", async () => {
  const types = Array(20_000).fill("customer_token.created");
  types.fill("sign_on.failed", 5000, 5300);
  const log = logOf(types);
  const found: number[] = [];
  for (let before: number | undefined; ; ) {
    const part = await readBefore(log, { types: ["sign_on.failed"] }, before);
    found.push(...numbers(part));
    before = part.before;
    if (before === undefined) break;
  }
  expect(found).toEqual(down(5300, 5001));
});
