import type { FileOptions } from "./file.ts";

type Read = (options: FileOptions) => AsyncIterable<string>;

/** Several lists of the same columns as one file: the header of the first alone. */
export const oneFile = (lists: readonly Read[]): Read =>
  async function* (options) {
    for (const [at, read] of lists.entries()) yield* at === 0 ? read(options) : withoutHeader(read(options));
  };

async function* withoutHeader(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let header: string | undefined = "";
  for await (const piece of pieces) {
    if (header === undefined) {
      yield piece;
      continue;
    }
    header += piece;
    const end = header.indexOf("\r\n");
    if (end < 0) continue;
    yield header.slice(end + 2);
    header = undefined;
  }
}
