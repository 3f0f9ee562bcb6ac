import { spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/support/until.ts";
import { createLineWriter } from "./line-writer.ts";

const MB = 1024 * 1024;
const PATIENCE_MS = 60_000;
const line = (letter: string, bytes: number) => `${letter.repeat(bytes - 1)}\n`;

let folder: string;
let opened: Set<number>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "latchkey-lines-"));
  opened = new Set();
});
afterEach(() => {
  for (const fd of opened) closeSync(fd);
  rmSync(folder, { recursive: true });
});

function open(path: string, flags: number | string): number {
  const fd = openSync(path, flags);
  opened.add(fd);
  return fd;
}

function close(fd: number): void {
  opened.delete(fd);
  closeSync(fd);
}

/**
 * A pipe of the operating system, of which the test has both ends: it holds some 64 KB, and then takes nothing. A write
 * to it then waits in a thread of the pool, or with O_NONBLOCK fails with EAGAIN.
 */
function newPipe(flags = 0) {
  const path = join(folder, `pipe-${opened.size}`);
  if (spawnSync("mkfifo", [path]).status !== 0) throw new Error("there is no mkfifo here");
  const openReader = () => open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let reader = openReader();
  const chunks: Buffer[] = [];

  /** All that was read until now, with what is there to be read, in pieces of some size. */
  function read(bytes = MB): Buffer {
    const buffer = Buffer.alloc(bytes);
    for (let tries = 0; tries < 100; tries++) {
      const length = readNow(buffer);
      if (length === 0) break;
      chunks.push(Buffer.from(buffer.subarray(0, length)));
    }
    return Buffer.concat(chunks);
  }
  function readNow(buffer: Buffer): number {
    try {
      return readSync(reader, buffer);
    } catch (error) {
      if ((error as { code?: string }).code === "EAGAIN") return 0;
      throw error;
    }
  }
  return {
    lines: createLineWriter(open(path, constants.O_WRONLY | flags)),
    /** As each of several processes has one. */
    newSharedLines: () => createLineWriter(open(path, constants.O_WRONLY), { isShared: true }),
    /** Compared, not shown: a difference of megabytes tells nobody anything. */
    async expectToRead(expected: string, bytes?: number): Promise<void> {
      await until(() => read(bytes).length >= Buffer.byteLength(expected));
      expect(read(bytes).equals(Buffer.from(expected))).toBe(true);
    },
    read,
    hangUp: () => close(reader),
    pickUp: () => {
      reader = openReader();
    },
  };
}

describe("lines", () => {
  test("reach a file descriptor whole and in order, with any characters", async () => {
    const lines = createLineWriter(open(join(folder, "log"), "w"));
    const all = Array.from({ length: 1000 }, (_, index) => `${index} ключ 🔑\n`);
    for (const text of all) lines.write(text);
    await lines.flush(PATIENCE_MS);
    expect(readFileSync(join(folder, "log"), "utf8")).toBe(all.join(""));
    expect(lines.dropped()).toBe(0);
  });

  test("written after a pause are written", async () => {
    const lines = createLineWriter(open(join(folder, "log"), "w"));
    for (const text of ["one\n", "two\n", "three\n"]) {
      lines.write(text);
      await lines.flush(PATIENCE_MS);
    }
    expect(readFileSync(join(folder, "log"), "utf8")).toBe("one\ntwo\nthree\n");
  });
});

describe("several processes that write to one pipe", () => {
  test("do not break one another's lines, also after the pipe was full", async () => {
    const { newSharedLines, read } = newPipe();
    const letters = ["a", "b", "c"];
    const writers = letters.map(newSharedLines);
    // The longest is as long as what a pipe takes in one piece (PIPE_BUF, 4096), and each has more than the pipe holds.
    const lengths = Array.from({ length: 35 }, (_, nth) => 1 + 117 * (nth + 1));
    for (const bytes of lengths)
      for (const [at, letter] of letters.entries()) writers[at]?.write(line(letter, bytes));
    await until(() => {
      read();
      return writers.every((lines) => lines.waiting() === 0);
    });
    const found = read().toString().split("\n");
    for (const letter of letters)
      expect(found.filter((text) => text.startsWith(letter))).toEqual(
        lengths.map((bytes) => letter.repeat(bytes - 1)),
      );
  });
});

describe("a reader that stops reading", () => {
  test.each([
    ["and makes a write wait", 0],
    ["and makes a write fail for the moment (EAGAIN)", constants.O_NONBLOCK],
  ])("%s blocks nothing: the event loop turns, lines wait in memory, and none is lost", async (_, flags) => {
    const { lines, expectToRead } = newPipe(flags);
    const all = Array.from({ length: 20 }, (_, index) => line(String(index % 10), 10_000));
    for (const text of all) {
      lines.write(text);
      await turn();
    }
    await expectToRead(all.join(""));
    expect(lines.dropped()).toBe(0);
  });

  test("and continues in pieces of any size gets every line, once and whole", async () => {
    // Sixty of the longest, at up to 35 bytes a grapheme, still fit into what may wait. None is empty: where one byte
    // alone is left, sonic-boom (minLength: 1) writes it with the next line.
    const text = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 1000 })
      .map((given) => `${given.replaceAll("\n", " ").toWellFormed()}\n`);
    const texts = fc.array(text, { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1000, max: 70_000 }), async (all, bytes) => {
        const { lines, expectToRead } = newPipe();
        for (const each of all) lines.write(each);
        await expectToRead(all.join(""), bytes);
        expect(lines.dropped()).toBe(0);
      }),
      { numRuns: 10 },
    );
  });

  test("lines beyond 4 MB are dropped and counted; reading frees space", async () => {
    const { lines, expectToRead } = newPipe();
    const all = Array.from({ length: 10 }, (_, index) => line(String(index), MB));
    for (const text of all) lines.write(text);
    expect(lines.dropped()).toBe(6);
    const short = Array.from({ length: 3 }, () => "short\n");
    for (const text of short) lines.write(text);
    // Four megabytes are full to the last byte.
    expect(lines.dropped()).toBe(9);
    await expectToRead(all.slice(0, 4).join(""));
    lines.write("short\n");
    await expectToRead(`${all.slice(0, 4).join("")}short\n`);
    expect(lines.dropped()).toBe(9);
  });

  test("drops a line that is too long for the memory, and not the line after it", async () => {
    const { lines, expectToRead } = newPipe();
    lines.write(line("x", 5 * MB));
    lines.write("short\n");
    await expectToRead("short\n");
    expect(lines.dropped()).toBe(1);
  });
});

describe("a descriptor that fails", () => {
  test.skipIf(!existsSync("/dev/full"))(
    "(a full disk) does not end the process: lines wait or are dropped, and all are counted at once",
    async () => {
      const lines = createLineWriter(open("/dev/full", "w"));
      for (let count = 1; count <= 6; count++) {
        lines.write(line("x", MB));
        await lines.flush(PATIENCE_MS);
        expect(lines.dropped() + lines.waiting()).toBe(count);
      }
    },
  );

  test("without a reader: retried with the next line, nothing is lost", async () => {
    const { lines, expectToRead, hangUp, pickUp } = newPipe();
    hangUp();
    for (const text of ["one\n", "two\n"]) {
      lines.write(text);
      await lines.flush(PATIENCE_MS);
    }
    expect(lines.waiting()).toBe(2);
    pickUp();
    lines.write("three\n");
    await expectToRead("one\ntwo\nthree\n");
    await lines.flush(PATIENCE_MS);
    expect([lines.dropped(), lines.waiting()]).toEqual([0, 0]);
  });
});

describe("flush", () => {
  const first = line("f", 200_000);

  test("is done when nothing waits", async () => {
    await createLineWriter(open(join(folder, "log"), "w")).flush(60_000);
  });

  test("waits for a reader that takes its time", async () => {
    const { lines, expectToRead } = newPipe();
    lines.write(first);
    lines.write("last\n");
    let isDone = false;
    const flushed = lines.flush(60_000).then(() => {
      isDone = true;
    });
    await turn();
    expect(isDone).toBe(false);
    await expectToRead(`${first}last\n`);
    await flushed;
  });

  test("does not wait longer than its limit", async () => {
    const { lines, expectToRead } = newPipe();
    lines.write(first);
    await lines.flush(1);
    await expectToRead(first);
  });
});
