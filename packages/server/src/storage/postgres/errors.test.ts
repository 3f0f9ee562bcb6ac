import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { answered } from "./errors.ts";

/** The whole process stands still, timers and sockets with it. */
const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe("a statement", () => {
  test("that is never answered ends in time", async () => {
    await expect(answered(new Promise(() => {}), 20)).rejects.toThrow("not answered in time");
  });

  test("that was under way while the machine was suspended still has time for its answer", async () => {
    const answer = nextTurn().then(() => sleep(20, "the answer"));
    const asked = answered(answer, 1000);
    standStill(1500);
    expect(await asked).toBe("the answer");
  });
});
