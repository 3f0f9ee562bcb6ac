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

type Write = (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;

const MAX_WAITING = 4 * 1024 * 1024;
const RETRY_MS = 50;
const NEWLINE = 10;

export function createLineWriter(to: number | Write): LineWriter {
  const put: Write =
    typeof to === "function"
      ? to
      : (bytes, done) => write(to, bytes, 0, bytes.length, null, (e, n) => done(e, n));
  let waiting: string[] = [];
  let waitingLength = 0;
  let isWriting = false;
  let isInsideLine = false;
  let isPrefixed = false;
  let dropped = 0;
  let idle: (() => void)[] = [];

  /** Writes what is left of the last write, or else all that waits. */
  function next(rest?: Buffer): void {
    const bytes = rest ?? takeWaiting();
    if (bytes.length === 0) {
      isWriting = false;
      for (const resolve of idle) resolve();
      idle = [];
      return;
    }
    put(bytes, (error, written) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => next(bytes), RETRY_MS).unref();
      } else if (error) {
        dropped += bytes.filter((byte) => byte === NEWLINE).length - (isPrefixed ? 1 : 0);
        next();
      } else {
        if (written > 0) {
          isInsideLine = bytes[written - 1] !== NEWLINE;
          isPrefixed = false;
        }
        next(written < bytes.length ? bytes.subarray(written) : undefined);
      }
    });
  }

  function takeWaiting(): Buffer {
    // A line that broke off is ended first, so that it costs no other line.
    const text = waiting.join("");
    isPrefixed = isInsideLine && text !== "";
    const bytes = Buffer.from(isPrefixed ? `\n${text}` : text);
    waiting = [];
    waitingLength = 0;
    return bytes;
  }

  return {
    write(line) {
      if (waitingLength + line.length > MAX_WAITING) {
        dropped++;
        return;
      }
      waiting.push(line);
      waitingLength += line.length;
      if (isWriting) return;
      isWriting = true;
      // Lines of one turn of the event loop go out together.
      setImmediate(() => next());
    },
    flush(withinMs) {
      if (!isWriting) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, withinMs);
      idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
      return promise;
    },
    dropped: () => dropped,
  };
}
