/** Progress of long work on standard error: a moving bar in a terminal, otherwise a line now and then. */
type Progress = { show(done: number, total: number | undefined): void; end(): void };

const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 5000;
const WIDTH = 30;

type Out = { isTTY?: boolean; columns?: number; write(text: string): unknown };

/**
 * A reader may close the pipe (`2>&1 | head -1`); without a listener the next write would end the command in the middle
 * of its work.
 */
export const standardError = (): Out => process.stderr.on("error", () => {});

export function createProgress(
  what: string,
  { out = standardError(), nowMs = () => performance.now() } = {},
): Progress {
  const everyMs = out.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS;
  let shownAtMs = out.isTTY ? Number.NEGATIVE_INFINITY : nowMs();
  let last = "";

  return {
    show(done, total) {
      const withBar = `${what}: ${bar(done / (total ?? 1))} ${counted(done, total)}`;
      last =
        out.isTTY && total && withBar.length <= roomOf(out) ? withBar : `${what}: ${counted(done, total)}`;
      if (nowMs() - shownAtMs < everyMs) return;
      shownAtMs = nowMs();
      writeOver(out, last);
    },
    end() {
      if (last) out.write(out.isTTY ? `${ANEW}${last}\n` : `${last}\n`);
    },
  };
}

/** Returns to the beginning of the line and clears it. */
export const ANEW = "\r\u001b[K";
const USUAL_COLUMNS = 80;

/** The longest line that can be written over in a terminal. */
const roomOf = ({ columns }: Out): number => (columns || USUAL_COLUMNS) - 1;

/** Replaces the last line. In a terminal the line is cut, because a wrapped line could not be written over. */
export function writeOver(out: Out, line: string): void {
  out.write(out.isTTY ? ANEW + line.slice(0, roomOf(out)) : `${line}\n`);
}

const counted = (done: number, total: number | undefined): string =>
  total ? `${done} of ${total} rows, ${Math.min(100, Math.floor((done / total) * 100))} %` : `${done} rows`;

function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * WIDTH);
  return `[${"#".repeat(full)}${" ".repeat(WIDTH - full)}]`;
}
