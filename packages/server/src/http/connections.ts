import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

type Connection = {
  /** The answers under way on a connection. A client may send its next request before it has read an answer. */
  answering: Set<ServerResponse>;
  /** The bytes received when the last answer was written. */
  answeredBytes: number;
  /** Called when an answer is written. */
  onAnswered?: () => void;
};

const connections = new WeakMap<Socket, Connection>();

export function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known) return known;
  const made: Connection = { answering: new Set(), answeredBytes: 0 };
  connections.set(socket, made);
  return made;
}

export function noteAnswer(socket: Socket, outgoing: ServerResponse): void {
  const connection = connectionOf(socket);
  connection.answering.add(outgoing);
  outgoing.once("close", () => {
    connection.answering.delete(outgoing);
    connection.answeredBytes = socket.bytesRead;
    connection.onAnswered?.();
  });
}
