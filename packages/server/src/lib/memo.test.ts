import fc from "fast-check";
import { expect, test } from "vitest";
import { createMemo } from "./memo.ts";

test("an entry in use stays, however many others arrive", () => {
  const memo = createMemo<number>(10);
  memo.keep("used", 1);
  for (let at = 0; at < 1000; at++) {
    memo.keep(`once ${at}`, at);
    expect(memo.get("used")).toBe(1);
  }
});

const step = fc.record({ text: fc.nat(30), ask: fc.boolean() });

test("never exceeds its size, and returns only stored results", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100, size: "max" }), (steps) => {
      const memo = createMemo<string>(8);
      for (const { text, ask } of steps) {
        if (ask) expect([undefined, `of ${text}`]).toContain(memo.get(String(text)));
        else memo.keep(String(text), `of ${text}`);
        expect(memo.size()).toBeLessThanOrEqual(8);
      }
    }),
  );
});
