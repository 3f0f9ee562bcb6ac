/** Shows on standard error how far a long run is: a bar on a terminal, elsewhere a line every ten seconds. */
export type Progress = { step(what: string, by?: number): void; end(): void };

const WIDTH = 30;
const LINE_EVERY_MS = 10_000;

export function createProgress(total: number): Progress {
  const isTerminal = process.stderr.isTTY === true;
  const startedMs = performance.now();
  let done = 0;
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    step(what, by = 1) {
      const part = Math.min(1, done / total);
      done += by;
      const nowMs = performance.now();
      if (nowMs - shownMs < (isTerminal ? 100 : LINE_EVERY_MS)) return;
      shownMs = nowMs;
      const seconds = Math.round((nowMs - startedMs) / 1000);
      const percent = `${Math.floor(part * 100)} %`.padStart(5);
      if (!isTerminal) return void process.stderr.write(`${percent}  ${seconds} s  ${what}\n`);
      const bar = "█".repeat(Math.round(part * WIDTH)).padEnd(WIDTH, "░");
      process.stderr.write(
        `\r\x1b[K${bar} ${percent}  ${seconds} s  ${what}`.slice(0, (process.stderr.columns ?? 100) + 4),
      );
    },
    end: () => void (isTerminal && process.stderr.write("\r\x1b[K")),
  };
}
