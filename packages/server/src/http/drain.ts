import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { connectionOf } from "./connections.ts";

/** The connections of a server, so that it can stop without cutting anybody off. */
export type Draining = {
  /** From now on every answer says `Connection: close`, and a connection on which nothing comes is ended after the grace. */
  begin(graceMs: number): void;
  /** Takes no new connections, and waits until those that are there have ended. What is left after the time is cut off. */
  finish(withinMs: number): Promise<void>;
};

/**
 * A client may send on a kept connection at any moment, so one that is closed at once resets whoever is just sending. A
 * connection is therefore ended (FIN, and read on until the client ends it too) only when nothing came on it for the grace.
 */
export function watchConnections(server: Server): Draining {
  /** Those that are open, with the timer of those that are to be ended. */
  const timers = new Map<Socket, NodeJS.Timeout | undefined>();
  let grace: number | undefined;

  function waitForQuiet(socket: Socket): void {
    const connection = connectionOf(socket);
    if (grace === undefined || !timers.has(socket) || connection.answering.size > 0) return;
    clearTimeout(timers.get(socket));
    const timer = setTimeout(() => {
      // What has come since is the beginning of a request, or one that is being answered.
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
      // First of all listeners, so that no answer has begun yet.
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
