import { write } from "node:fs";

/**
 * Lines to a file descriptor, without ever waiting for it: a log that cannot be written (a full disk, a reader that
 * stopped reading) must not stop the service. What does not fit into memory is dropped, and counted.
 */
export type LineWriter = {
  write(line: string): void;
  flush(withinMs: number): Promise<void>;
  dropped(): number;
};

type Write = (text: string, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;

const MAX_WAITING = 4 * 1024 * 1024;
const RETRY_MS = 50;

export function createLineWriter(toDescriptor: number | Write): LineWriter {
  const put: Write =
    typeof toDescriptor === "function"
      ? toDescriptor
      : (text, done) => {
          const bytes = Buffer.from(text);
          write(toDescriptor, bytes, 0, bytes.length, null, (error, written) => done(error, written));
        };
  let waiting: string[] = [];
  let waitingLength = 0;
  let isWriting = false;
  let dropped = 0;
  let idle: (() => void)[] = [];

  function next(rest?: Buffer): void {
    const text = rest ? rest.toString() : waiting.join("");
    if (!rest) {
      waiting = [];
      waitingLength = 0;
    }
    if (text === "") {
      isWriting = false;
      for (const resolve of idle) resolve();
      idle = [];
      return;
    }
    isWriting = true;
    put(text, (error, written) => {
      const bytes = Buffer.from(text);
      if (!error) return next(written < bytes.length ? bytes.subarray(written) : undefined);
      if (error.code === "EAGAIN") return void setTimeout(() => next(bytes), RETRY_MS).unref();
      dropped += text.split("\n").length - 1;
      return next();
    });
  }

  return {
    write(line) {
      if (waitingLength + line.length > MAX_WAITING) {
        dropped++;
        return;
      }
      waiting.push(line);
      waitingLength += line.length;
      if (!isWriting) {
        isWriting = true;
        // Lines of one turn of the event loop go out together.
        setImmediate(() => next());
      }
    },
    flush: (withinMs) =>
      isWriting
        ? new Promise((resolve) => {
            idle.push(resolve);
            setTimeout(resolve, withinMs);
          })
        : Promise.resolve(),
    dropped: () => dropped,
  };
}
