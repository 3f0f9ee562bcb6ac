import { expect, test } from "vitest";
import { createInFlight } from "./in-flight.ts";

test("one more than allowed is refused, and only of its kind; whoever ends makes room, however it ends", async () => {
  const inFlight = createInFlight(2);
  const ends: (() => void)[] = [];
  const work = (fails = false) =>
    new Promise<void>((resolve, reject) =>
      ends.push(() => (fails ? reject(new Error("failed")) : resolve())),
    );
  const first = inFlight.run("a", () => work(true));
  const second = inFlight.run("a", () => work());
  expect(inFlight.run("a", () => work())).toBeUndefined();
  const other = inFlight.run("b", () => work());
  expect(other).toBeDefined();
  ends[0]?.();
  await expect(first).rejects.toThrow("failed");
  const third = inFlight.run("a", () => work());
  expect(third).toBeDefined();
  for (const end of ends) end();
  await Promise.all([second, other, third]);
});
