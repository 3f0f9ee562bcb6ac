import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Connections whose last answer was read whole, kept for the next request of the same profile to the same origin. A connection
 * was made to an address that was checked, so it is replaced soon, because a name may move; and it is kept only as long as
 * every usual server keeps it, because a request that meets a closed one is lost (docs/adr/0019).
 */
type KeptConnections = {
  /** One that is still open, and is now the caller's. */
  take(key: string): Promise<Line | undefined>;
  /** Keeps it, or closes it. */
  giveBack(key: string, line: Line): void;
  /** A request on a kept one was lost: for a while this server's connections are not kept. */
  distrust(key: string): void;
};

export type Line = { socket: Socket; connectedAtMs: number };

const MAX_AGE_MS = 30_000;
const MAX_IDLE_MS = 1000;
const MAX_KEPT = 200;
const DISTRUST_MS = 10 * 60_000;
const MAX_DISTRUSTED = 1000;

export function createKeptConnections(): KeptConnections {
  const idle = new Map<string, Line[]>();
  const watches = new WeakMap<Socket, () => void>();
  const distrustedUntilMs = new Map<string, number>();
  let kept = 0;

  /** Whatever happens on a connection that nobody uses ends it: bytes that nobody asked for, a farewell, the end of its time. */
  function watch(key: string, { socket }: Line): void {
    const end = () => {
      stopWatching();
      remove(key, socket);
      socket.destroy();
    };
    const events = ["data", "end", "close", "timeout"];
    const stopWatching = () => {
      for (const event of events) socket.off(event, end);
      socket.setTimeout(0).ref();
    };
    for (const event of events) socket.on(event, end);
    socket.setTimeout(MAX_IDLE_MS).unref();
    watches.set(socket, stopWatching);
  }

  function remove(key: string, socket: Socket): void {
    const lines = idle.get(key) ?? [];
    const at = lines.findIndex((line) => line.socket === socket);
    if (at === -1) return;
    lines.splice(at, 1);
    kept--;
    if (lines.length === 0) idle.delete(key);
  }

  const isOld = ({ connectedAtMs }: Line) => performance.now() - connectedAtMs > MAX_AGE_MS;

  return {
    async take(key) {
      for (;;) {
        const line = idle.get(key)?.at(-1);
        if (!line) return undefined;
        remove(key, line.socket);
        // What the server has sent by now, its farewell included, has been read after a whole turn of the event loop.
        await nextTurn();
        await nextTurn();
        watches.get(line.socket)?.();
        if (!line.socket.destroyed && !isOld(line)) return line;
        line.socket.destroy();
      }
    },
    giveBack(key, line) {
      const isDistrusted = performance.now() < (distrustedUntilMs.get(key) ?? 0);
      if (isDistrusted || kept >= MAX_KEPT) {
        line.socket.destroy();
        return;
      }
      idle.set(key, [...(idle.get(key) ?? []), line]);
      kept++;
      watch(key, line);
    },
    distrust(key) {
      if (distrustedUntilMs.size >= MAX_DISTRUSTED) distrustedUntilMs.clear();
      distrustedUntilMs.set(key, performance.now() + DISTRUST_MS);
    },
  };
}
