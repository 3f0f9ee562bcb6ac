import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

/** The connections of a server, so that it can stop without cutting anybody off. */
export type Draining = {
  /** From now on every answer says `Connection: close`, and a connection on which nothing comes is ended after the grace. */
  begin(graceMs: number): void;
  /** Takes no new connections, and waits until those that are there have ended. What is left after the time is cut off. */
  finish(withinMs: number): Promise<void>;
};

type Connection = {
  answering: Set<ServerResponse>;
  /** How many bytes had come when the last answer was out. */
  answeredBytes: number;
  timer: NodeJS.Timeout | undefined;
};

/**
 * A client may send on a kept connection at any moment, so one that is closed at once resets whoever is just sending. A
 * connection is therefore ended (FIN, and read on until the client ends it too) only when nothing came on it for the grace.
 */
export function watchConnections(server: Server): Draining {
  const connections = new Map<Socket, Connection>();
  let grace: number | undefined;

  function waitForQuiet(socket: Socket): void {
    const connection = connections.get(socket);
    if (grace === undefined || !connection || connection.answering.size > 0) return;
    clearTimeout(connection.timer);
    connection.timer = setTimeout(() => {
      // What has come since is the beginning of a request, or one that is being answered.
      if (socket.bytesRead === connection.answeredBytes) socket.end();
    }, grace);
  }

  server.on("connection", (socket: Socket) => {
    const connection: Connection = { answering: new Set(), answeredBytes: 0, timer: undefined };
    connections.set(socket, connection);
    socket.once("close", () => {
      clearTimeout(connection.timer);
      connections.delete(socket);
    });
    waitForQuiet(socket);
  });

  // First of all listeners, so that no answer has begun yet.
  server.prependListener("request", ({ socket }, response: ServerResponse) => {
    if (grace !== undefined) response.shouldKeepAlive = false;
    const connection = connections.get(socket);
    connection?.answering.add(response);
    response.once("close", () => {
      if (!connection) return;
      connection.answering.delete(response);
      connection.answeredBytes = socket.bytesRead;
      waitForQuiet(socket);
    });
  });

  return {
    begin(graceMs) {
      grace = graceMs;
      for (const [socket, { answering }] of connections) {
        for (const response of answering) response.shouldKeepAlive = false;
        waitForQuiet(socket);
      }
    },
    async finish(withinMs) {
      const cut = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy();
      }, withinMs);
      // Not the HTTP server's own close, which destroys idle connections at once.
      await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
      clearTimeout(cut);
    },
  };
}
