import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { connectionOf } from "./connections.ts";

/** Tracks the connections of a server, so that it can stop without cutting clients off. */
export type Draining = {
  /** Adds `Connection: close` to every answer, and ends connections that stay idle for the grace period. */
  begin(graceMs: number): void;
  /**
   * Accepts no new connection and waits until the existing ones have ended. After the time limit the rest is destroyed.
   */
  finish(withinMs: number): Promise<void>;
};

/**
 * A client may send on an idle connection at any moment, and closing the connection then would reset it. So a
 * connection is ended (FIN, and read until the client ends it) only after nothing has arrived on it for the grace
 * period.
 */
export function watchConnections(server: Server): Draining {
  /** The open connections, with the timer of those that will be ended. */
  const timers = new Map<Socket, NodeJS.Timeout | undefined>();
  let grace: number | undefined;

  function waitForQuiet(socket: Socket): void {
    const connection = connectionOf(socket);
    if (grace === undefined || !timers.has(socket) || connection.answering.size > 0) return;
    clearTimeout(timers.get(socket));
    const timer = setTimeout(() => {
      // Bytes since the last answer belong to a new request.
      if (socket.bytesRead === connection.answeredBytes) socket.end();
    }, grace);
    timers.set(socket, timer);
  }

  server.on("connection", (socket: Socket) => {
    timers.set(socket, undefined);
    socket.once("close", () => {
      clearTimeout(timers.get(socket));
      timers.delete(socket);
    });
    connectionOf(socket).onAnswered = () => waitForQuiet(socket);
    waitForQuiet(socket);
  });

  return {
    begin(graceMs) {
      grace = graceMs;
      // Before all other listeners, so that no answer has begun.
      server.prependListener("request", (_, response: ServerResponse) => {
        response.shouldKeepAlive = false;
      });
      for (const socket of timers.keys()) {
        for (const response of connectionOf(socket).answering) response.shouldKeepAlive = false;
        waitForQuiet(socket);
      }
    },
    async finish(withinMs) {
      const cut = setTimeout(() => {
        for (const socket of timers.keys()) socket.destroy();
      }, withinMs);
      // Not the HTTP server's own close, which destroys idle connections at once.
      await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
      clearTimeout(cut);
    },
  };
}
