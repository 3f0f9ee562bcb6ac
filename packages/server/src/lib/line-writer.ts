import sonicBoom from "sonic-boom";

/**
 * Writes lines to a file descriptor without waiting: a full disk, or a reader that stopped, must not stop the service.
 * Unwritten lines wait in memory and are tried again with the next line; lines beyond the buffer are dropped and
 * counted.
 */
export type LineWriter = {
  write(line: string): void;
  flush(withinMs: number): Promise<void>;
  /** Lines dropped since the start. */
  dropped(): number;
  /** Lines not written yet. It grows while writing fails. */
  waiting(): number;
};

const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const MAX_WRITE_BYTES = 64 * 1024;
/** Writes of several processes to one pipe stay whole up to this length (PIPE_BUF). No log line is longer. */
const MAX_SHARED_WRITE_BYTES = 4096;

/** `isShared`: other processes write to the same descriptor. */
export function createLineWriter(fd: number, { isShared = false } = {}): LineWriter {
  let dropped = 0;
  let waiting = 0;
  const sink = new sonicBoom.SonicBoom({
    fd,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: isShared ? MAX_SHARED_WRITE_BYTES : MAX_WRITE_BYTES,
    // Buffers: with text the library would measure the whole waiting block for every line.
    contentMode: "buffer",
    // With 0, `flush` would not wait for a write under way.
    minLength: 1,
  });
  sink.on("drop", () => {
    dropped++;
    waiting--;
  });
  sink.on("drain", () => {
    waiting = 0;
  });
  // Without a listener an error would end the process. The lines of the failed write stay in the buffer.
  sink.on("error", () => {});

  return {
    write(line) {
      waiting++;
      // The library's types declare text only.
      sink.write(Buffer.from(line) as unknown as string);
    },
    flush(withinMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, withinMs);
      sink.flush(() => {
        clearTimeout(timer);
        resolve();
      });
      return promise;
    },
    dropped: () => dropped,
    waiting: () => waiting,
  };
}
