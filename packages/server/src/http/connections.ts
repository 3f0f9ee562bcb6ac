import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

type Connection = {
  /** The answers that are under way: a client may send the next request before it has heard. */
  answering: Set<ServerResponse>;
  /** How many bytes had come when the last answer was out. */
  answeredBytes: number;
  /** Told whenever an answer is out. */
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
