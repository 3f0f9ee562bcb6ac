import { expect, test } from "vitest";
import { oneFile } from "./one-file.ts";

const listOf = (...pieces: string[]) =>
  async function* () {
    yield* pieces;
  };

async function read(...lists: ReturnType<typeof listOf>[]): Promise<string> {
  let text = "";
  for await (const piece of oneFile(lists)({ signal: new AbortController().signal, onName() {} }))
    text += piece;
  return text;
}

test.each([
  [["id,name\r\n1,a\r\n"], ["id,name\r\n2,b\r\n"]],
  [
    ["id,na", "me\r\n1,a\r\n"],
    ["id,na", "me\r", "\n2,b", "\r\n"],
  ],
  [["id,name\r\n", "1,a\r\n"], ["id,name\r\n"], ["id,name\r\n2,b\r\n"]],
])("several lists have one header, wherever their pieces end: %j", async (...lists) => {
  expect(await read(...lists.map((pieces) => listOf(...pieces)))).toBe("id,name\r\n1,a\r\n2,b\r\n");
});
