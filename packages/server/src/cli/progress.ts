/** How far something long has come, on standard error: a bar that moves in a terminal, else a line now and then. */
type Progress = { show(done: number, total: number | undefined): void; end(): void };

const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 5000;
const WIDTH = 30;

type Out = { isTTY?: boolean; write(text: string): unknown };

/** Whoever reads may leave (`2>&1 | head -1`): without a listener, the next write would end the command in the middle of its work. */
export const standardError = (): Out => process.stderr.on("error", () => {});

export function createProgress(
  what: string,
  { out = standardError(), nowMs = () => performance.now() } = {},
): Progress {
  const everyMs = out.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS;
  let shownAtMs = out.isTTY ? Number.NEGATIVE_INFINITY : nowMs();
  let last = "";
  const write = (text: string) => out.write(out.isTTY ? `\r${text}` : `${text}\n`);

  return {
    show(done, total) {
      last = `${what}: ${out.isTTY && total ? `${bar(done / total)} ` : ""}${counted(done, total)}`;
      if (nowMs() - shownAtMs < everyMs) return;
      shownAtMs = nowMs();
      write(last);
    },
    end() {
      if (last) write(last);
      if (out.isTTY && last) out.write("\n");
    },
  };
}

const counted = (done: number, total: number | undefined): string =>
  total ? `${done} of ${total} rows, ${Math.min(100, Math.floor((done / total) * 100))} %` : `${done} rows`;

function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * WIDTH);
  return `[${"#".repeat(full)}${" ".repeat(WIDTH - full)}]`;
}
