import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

export type OpenConnection = { socket: Socket; connectedAtMs: number };

const MAX_AGE_MS = 30_000;
const MAX_IDLE_MS = 1000;
const MAX_KEPT = 200;
const DISTRUST_MS = 10 * 60_000;
const MAX_DISTRUSTED = 1000;

/**
 * Connections whose last answer was read completely, kept for the next request of the same profile to the same origin.
 * A connection goes to an address that was checked, so it is replaced after 30 seconds, because a name may move. An
 * idle connection is kept for a second, which usual servers exceed, because a request on a connection that the server
 * closes is lost (docs/adr/0019).
 */
export function createKeptConnections() {
  const idle = new Map<string, OpenConnection[]>();
  const watches = new WeakMap<Socket, () => void>();
  const distrustedUntilMs = new Map<string, number>();
  let kept = 0;

  /** Destroys an idle connection on any event: unexpected data, FIN, close or timeout. */
  function watch(key: string, { socket }: OpenConnection): void {
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
    const open = idle.get(key) ?? [];
    const at = open.findIndex((connection) => connection.socket === socket);
    if (at === -1) return;
    open.splice(at, 1);
    kept--;
    if (open.length === 0) idle.delete(key);
  }

  const isOld = ({ connectedAtMs }: OpenConnection) => performance.now() - connectedAtMs > MAX_AGE_MS;

  return {
    /** A connection that is still open. The caller owns it from now on. */
    async take(key: string): Promise<OpenConnection | undefined> {
      for (;;) {
        const connection = idle.get(key)?.at(-1);
        if (!connection) return undefined;
        remove(key, connection.socket);
        // After a whole turn of the event loop everything that the server has sent by now is read, a FIN included.
        await nextTurn();
        await nextTurn();
        watches.get(connection.socket)?.();
        if (!connection.socket.destroyed && !isOld(connection)) return connection;
        connection.socket.destroy();
      }
    },
    /** Keeps the connection, or closes it. */
    giveBack(key: string, connection: OpenConnection): void {
      const isDistrusted = performance.now() < (distrustedUntilMs.get(key) ?? 0);
      if (isDistrusted || kept >= MAX_KEPT) {
        connection.socket.destroy();
        return;
      }
      idle.set(key, [...(idle.get(key) ?? []), connection]);
      kept++;
      watch(key, connection);
    },
    /** A request on a kept connection was lost: for ten minutes this server's connections are not kept. */
    distrust(key: string): void {
      if (distrustedUntilMs.size >= MAX_DISTRUSTED) distrustedUntilMs.clear();
      distrustedUntilMs.set(key, performance.now() + DISTRUST_MS);
    },
  };
}
