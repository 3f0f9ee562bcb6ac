import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLineWriter } from "./line-writer.ts";

/** How one write ends: how many bytes are taken, or the error; `never` leaves it under way. */
type End = number | { code: string } | "all" | "never";

/** A writer to a descriptor that does as it is told, write by write, and then takes everything. */
function setup(...ends: End[]) {
  const written: Buffer[] = [];
  const asked: Buffer[] = [];
  const held: (() => void)[] = [];
  const lines = createLineWriter((text, done) => {
    const bytes = Buffer.from(text);
    const end = ends.shift() ?? "all";
    asked.push(bytes);
    const take = (length: number) => {
      written.push(bytes.subarray(0, length));
      done(null, length);
    };
    if (end === "never") held.push(() => take(bytes.length));
    else if (end === "all") take(bytes.length);
    else if (typeof end === "number") take(Math.min(end, bytes.length));
    else done(Object.assign(new Error(end.code), { code: end.code }), 0);
  });
  return { lines, asked, held, output: () => Buffer.concat(written).toString("latin1") };
}

const latin1 = (text: string) => Buffer.from(text).toString("latin1");
const MB = 1024 * 1024;

/** Any characters at all, but whole ones. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .map((point) => String.fromCodePoint(point))
  .filter((character) => character.isWellFormed());

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("lines", () => {
  test("of one turn go out together, in their order, after the turn", () => {
    const { lines, asked, output } = setup();
    lines.write("one\n");
    lines.write("two\n");
    expect(asked).toEqual([]);
    vi.runAllTimers();
    expect(asked).toHaveLength(1);
    expect(output()).toBe("one\ntwo\n");
  });

  test("that come while others are being written follow them", () => {
    const { lines, asked, held, output } = setup("never");
    lines.write("one\n");
    vi.runAllTimers();
    lines.write("two\n");
    lines.write("three\n");
    vi.runAllTimers();
    expect(asked).toHaveLength(1);
    held[0]?.();
    vi.runAllTimers();
    expect(output()).toBe("one\ntwo\nthree\n");
  });

  test("that come after everything was written go out too", () => {
    const { lines, output } = setup();
    lines.write("one\n");
    vi.runAllTimers();
    lines.write("two\n");
    vi.runAllTimers();
    expect(output()).toBe("one\ntwo\n");
  });

  test("reach a file descriptor", async () => {
    vi.useRealTimers();
    const folder = mkdtempSync(join(tmpdir(), "latchkey-lines-"));
    const descriptor = openSync(join(folder, "log"), "w");
    try {
      const lines = createLineWriter(descriptor);
      const all = Array.from({ length: 1000 }, (_, index) => `${index} ключ 🔑\n`);
      for (const line of all) lines.write(line);
      await lines.flush(5000);
      expect(readFileSync(join(folder, "log"), "utf8")).toBe(all.join(""));
      expect(lines.dropped()).toBe(0);
    } finally {
      closeSync(descriptor);
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a write that takes only a part", () => {
  test("is continued where it stopped, before anything else", () => {
    const { lines, held, output } = setup(2, "never");
    lines.write("one\n");
    vi.runAllTimers();
    lines.write("two\n");
    held[0]?.();
    vi.runAllTimers();
    expect(output()).toBe("one\ntwo\n");
  });

  test.each([1, 2, 3])("may stop inside a character: after byte %d of four", (bytes) => {
    const { lines, output } = setup(bytes);
    lines.write("🔑\n");
    vi.runAllTimers();
    expect(output()).toBe(latin1("🔑\n"));
  });

  test("may be refused for the moment after that", () => {
    const { lines, output } = setup(3, { code: "EAGAIN" }, 1, { code: "EAGAIN" });
    lines.write("one two\n");
    vi.runAllTimers();
    expect(output()).toBe("one two\n");
    expect(lines.dropped()).toBe(0);
  });

  test("changes no line, however often and wherever it stops", () => {
    const end = fc.oneof(
      fc.integer({ min: 1, max: 5 }),
      fc.constant({ code: "EAGAIN" }),
      fc.constant<End>("all"),
    );
    const line = fc
      .string({ unit: anyCharacter, maxLength: 10 })
      .map((text) => `${text.replaceAll("\n", " ")}\n`);
    fc.assert(
      fc.property(fc.array(end, { maxLength: 20 }), fc.array(line, { maxLength: 10 }), (ends, all) => {
        const { lines, output } = setup(...ends);
        for (const text of all) lines.write(text);
        vi.runAllTimers();
        expect(output()).toBe(latin1(all.join("")));
        expect(lines.dropped()).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a descriptor that cannot take anything now (EAGAIN)", () => {
  test("is asked again a moment later, and nothing is lost", () => {
    const { lines, asked, output } = setup({ code: "EAGAIN" }, { code: "EAGAIN" });
    lines.write("one\n");
    vi.advanceTimersToNextTimer();
    expect(asked).toHaveLength(1);
    lines.write("two\n");
    vi.runAllTimers();
    expect(output()).toBe("one\ntwo\n");
    expect(lines.dropped()).toBe(0);
  });

  test("is not asked without a pause", () => {
    const { lines, asked } = setup(...Array<End>(1000).fill({ code: "EAGAIN" }));
    lines.write("one\n");
    vi.advanceTimersByTime(1000);
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThan(100);
  });
});

describe("a descriptor that fails", () => {
  test.each(["EPIPE", "ENOSPC", "EIO", "EBADF"])(
    "costs the lines of that write, which are counted: %s",
    (code) => {
      const { lines, output } = setup({ code });
      lines.write("one\n");
      lines.write("two\n");
      vi.runAllTimers();
      expect(lines.dropped()).toBe(2);
      lines.write("three\n");
      vi.runAllTimers();
      expect(output()).toBe("three\n");
      expect(lines.dropped()).toBe(2);
    },
  );

  test("in the middle of a line costs that line and no other", () => {
    const { lines, output } = setup(6, { code: "ENOSPC" });
    lines.write("one\n");
    lines.write("two\n");
    vi.runAllTimers();
    lines.write("three\n");
    vi.runAllTimers();
    expect(lines.dropped()).toBe(1);
    expect(output().split("\n")).toContain("one");
    expect(output().split("\n")).toContain("three");
  });

  test("again and again costs each line once", () => {
    const { lines, output } = setup(6, { code: "ENOSPC" }, { code: "ENOSPC" }, { code: "ENOSPC" });
    for (const line of ["one\ntwo\n", "three\n", "four\n", "five\n"]) {
      lines.write(line);
      vi.runAllTimers();
    }
    expect(output().split("\n")).toContain("five");
    expect(lines.dropped()).toBe(3);
  });

  test("does not stop lines that came meanwhile", () => {
    const { lines, held, output } = setup(1, "never", { code: "EIO" });
    lines.write("one\n");
    vi.runAllTimers();
    lines.write("two\n");
    held[0]?.();
    vi.runAllTimers();
    lines.write("three\n");
    vi.runAllTimers();
    expect(output()).toBe("one\nthree\n");
    expect(lines.dropped()).toBe(1);
  });
});

describe("memory", () => {
  test("holds four million characters of waiting lines; what does not fit is dropped and counted", () => {
    const { lines, held, output } = setup("never");
    lines.write("first\n");
    vi.runAllTimers();
    const line = `${"a".repeat(MB - 1)}\n`;
    for (let index = 0; index < 10; index++) lines.write(line);
    expect(lines.dropped()).toBe(6);
    held[0]?.();
    vi.runAllTimers();
    expect(output()).toHaveLength("first\n".length + 4 * MB);
  });

  test("has room again when the lines are out", () => {
    const { lines, output } = setup();
    const line = `${"a".repeat(3 * MB - 1)}\n`;
    for (let index = 0; index < 3; index++) {
      lines.write(line);
      vi.runAllTimers();
    }
    expect(lines.dropped()).toBe(0);
    expect(output()).toHaveLength(9 * MB);
  });

  test("takes a short line after one that did not fit", () => {
    const { lines, output } = setup();
    lines.write("a".repeat(5 * MB));
    lines.write("short\n");
    vi.runAllTimers();
    expect(lines.dropped()).toBe(1);
    expect(output()).toBe("short\n");
  });
});

describe("flush", () => {
  /** Whether a promise has been kept, as far as the timers have run. */
  async function isDone(promise: Promise<void>): Promise<boolean> {
    return await Promise.race([
      promise.then(() => true),
      Promise.resolve().then(() => Promise.resolve(false)),
    ]);
  }

  test("is done at once when nothing waits", async () => {
    const { lines } = setup();
    expect(await isDone(lines.flush(1000))).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("waits for lines of this turn", async () => {
    const { lines, output } = setup();
    lines.write("one\n");
    const flushed = lines.flush(1000);
    expect(await isDone(flushed)).toBe(false);
    vi.advanceTimersByTime(1);
    await flushed;
    expect(output()).toBe("one\n");
  });

  test("waits for a descriptor that takes its time, and for the lines behind", async () => {
    const { lines, held, output } = setup("never", { code: "EAGAIN" });
    lines.write("one\n");
    vi.advanceTimersByTime(1);
    lines.write("two\n");
    const flushed = lines.flush(1000);
    held[0]?.();
    expect(await isDone(flushed)).toBe(false);
    vi.advanceTimersByTime(100);
    expect(await isDone(flushed)).toBe(true);
    expect(output()).toBe("one\ntwo\n");
  });

  test("does not wait longer than it was told", async () => {
    const { lines, asked } = setup("never");
    lines.write("one\n");
    const flushed = lines.flush(1000);
    vi.advanceTimersByTime(999);
    expect(asked).toHaveLength(1);
    expect(await isDone(flushed)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await isDone(flushed)).toBe(true);
  });

  test("is done for all who asked", async () => {
    const { lines } = setup();
    lines.write("one\n");
    const flushed = [lines.flush(1000), lines.flush(2000)];
    vi.advanceTimersByTime(1);
    expect(await Promise.all(flushed)).toHaveLength(2);
  });

  test("leaves no timer behind that would keep the process alive", async () => {
    const { lines } = setup();
    lines.write("one\n");
    const flushed = lines.flush(60_000);
    vi.advanceTimersByTime(1);
    await flushed;
    expect(vi.getTimerCount()).toBe(0);
  });
});
