import { expect, test } from "vitest";
import { inWords } from "./cli.ts";

const failed = (message: string, members: object) => Object.assign(new Error(message), members);

test.each([
  [
    failed("ENOSPC: no space left on device, write", { code: "ENOSPC", syscall: "write" }),
    "a file or folder",
  ],
  [failed("ENOENT: process.cwd failed", { code: "ENOENT", syscall: "uv_cwd" }), "a file or folder"],
  [
    failed("database or disk is full", { errcode: 13 }),
    "the database cannot be written to: its disk is full",
  ],
  [failed("no room", { code: "53100" }), "the database cannot be written to: its disk is full"],
  [failed("database is locked", { errcode: 5 }), "run the same command again"],
])("%s is explained, with a remedy", (error, words) => {
  expect(inWords(error)).toContain(words);
  expect(inWords(error)).toContain(error.message);
  expect(inWords(error)).not.toContain("    at ");
});

test("a bug shows its stack", () => {
  expect(inWords(new Error("undefined is not a function"))).toContain("    at ");
});
