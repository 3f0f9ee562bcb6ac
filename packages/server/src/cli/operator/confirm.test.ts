import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { isOperatorFault } from "../../lib/operator-fault.ts";
import { confirm } from "./confirm.ts";

/** What comes of a question that is answered so, on a terminal. */
async function answer(typed: string): Promise<unknown> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const asked = confirm("This deletes it.", false, { input, output });
  input.write(typed);
  return asked.catch((error) => error);
}

test("yes continues", async () => {
  expect(await answer("yes\r")).toBeUndefined();
});

test.each([
  ["another word", "no\r"],
  ["nothing", "\r"],
  ["Ctrl-C", "\x03"],
  ["Ctrl-C in the middle of a word", "ye\x03"],
  ["Ctrl-D", "\x04"],
])("%s changes nothing, and the command prints that", async (_, typed) => {
  const fault = await answer(typed);
  expect(isOperatorFault(fault)).toBe(true);
  expect((fault as Error).message).toBe("nothing was changed");
});
