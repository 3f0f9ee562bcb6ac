import sonicBoom from "sonic-boom";

/**
 * Lines to a file descriptor, without ever waiting for it: a log that cannot be written (a full disk, a reader that
 * stopped reading) must not stop the service. What was not written waits in memory and is tried again with the next
 * line; what does not fit there is dropped, and counted.
 */
export type LineWriter = {
  write(line: string): void;
  flush(withinMs: number): Promise<void>;
  /** Lines that were given up, since the start. */
  dropped(): number;
  /** Lines that are not written yet: while writing fails this grows, and is seen before memory is full. */
  waiting(): number;
};

const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const MAX_WRITE_BYTES = 64 * 1024;
/** What several processes write to one pipe is not torn up to this length (PIPE_BUF). No line of ours is longer. */
const MAX_SHARED_WRITE_BYTES = 4096;

/** `isShared`: other processes write there, too. */
export function createLineWriter(fd: number, { isShared = false } = {}): LineWriter {
  let dropped = 0;
  let waiting = 0;
  const sink = new sonicBoom.SonicBoom({
    fd,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: isShared ? MAX_SHARED_WRITE_BYTES : MAX_WRITE_BYTES,
    // With texts it would measure the whole waiting block again for every line.
    contentMode: "buffer",
    // At zero, `flush` would not wait for what is being written.
    minLength: 1,
  });
  sink.on("drop", () => {
    dropped++;
    waiting--;
  });
  sink.on("drain", () => {
    waiting = 0;
  });
  // Without a listener an error would end the process. The lines of the failed write are still waiting.
  sink.on("error", () => {});

  return {
    write(line) {
      waiting++;
      // Its types know texts only.
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
