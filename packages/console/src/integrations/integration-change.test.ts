import { expect, test } from "vitest";
import { changeOf, draftOf } from "./integration-change.ts";
import { waitingInWords } from "./waiting.ts";

const seen = {
  name: "Till",
  observes: ["store.*", "customer.created"],
  configuration: { url: "https://a/" },
};

test("only what differs is sent", () => {
  expect(changeOf(seen, draftOf(seen))).toEqual({});
  expect(changeOf(seen, { ...draftOf(seen), name: " Till 2 " })).toEqual({ name: "Till 2" });
  expect(changeOf(seen, { ...draftOf(seen), url: "https://b/ " })).toEqual({
    configuration: { url: "https://b/" },
  });
});

test("events in another order are no change", () => {
  const draft = draftOf(seen);
  expect(changeOf(seen, { ...draft, observes: draft.observes.toReversed() })).toEqual({});
  expect(changeOf(seen, { ...draft, observes: ["store.*"] })).toEqual({ observes: ["store.*"] });
});

test("what becomes of waiting deliveries agrees with their number", () => {
  const what = "wait to be sent and are deleted, too";
  const counted = (total: number) => waitingInWords({ total, totalIsAtLeast: false }, what);
  expect(counted(0)).toBe("No delivery waits now.");
  expect(counted(1)).toBe("1 delivery waits to be sent and is deleted, too.");
  expect(counted(14)).toBe("14 deliveries wait to be sent and are deleted, too.");
  expect(waitingInWords({ total: 10_000, totalIsAtLeast: true }, what)).toMatch(
    /^10,000 or more deliveries wait/,
  );
});
