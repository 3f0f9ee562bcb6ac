import { ApiError } from "@latchkey/sdk/admin";
import { duration } from "../text/instants.ts";

/** Given to the SDK: ends the reading, and gets the name that the service gives the file. */
export type FileOptions = { signal: AbortSignal; onName: (name: string) => void };

export type ReadFile = { name: string; pieces: string[] };

/** Reads a whole file. Throws if it breaks off: a part is never taken for the whole. */
export async function readFile(
  read: (options: FileOptions) => AsyncIterable<string>,
  otherwise: string,
  signal: AbortSignal,
  onSize: (size: number) => void,
): Promise<ReadFile> {
  const file: ReadFile = { name: otherwise, pieces: [] };
  let size = 0;
  const onName = (name: string) => {
    file.name = name;
  };
  for await (const piece of read({ signal, onName })) {
    file.pieces.push(piece);
    size += piece.length;
    onSize(size);
  }
  return file;
}

/** "12 kB", "3.4 MB". */
export const sizeInWords = (size: number): string =>
  size < 1_000_000 ? `${Math.ceil(size / 1000)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;

/** Says what to do about a file that could not be read; undefined: the error says it. */
export function explainDownload(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === "network_failed")
    return "The file is not complete, so it was not saved. Export it again.";
  if (error.code !== "exports_exceeded") return undefined;
  const { bucket, retry_after_seconds: seconds } = error.errors[0]?.meta ?? {};
  if (bucket === "at_once")
    return "The store has two exports under way already. Try again when one of them has finished.";
  return `The store has made all the exports that it may make in an hour. Try again in ${duration(Number(seconds) * 1000)}.`;
}
