import { createConnection, createServer } from "node:net";

/**
 * The traffic of the connection so far. A turn is a chunk to the server after a chunk from it: the client waited for
 * the answer.
 */
export type Carried = { turns: number; toServer: number; fromServer: number };
type CountingProxy = { port: number; carried(): Carried; close(): Promise<void> };

/**
 * A proxy to a server on loopback that counts the traffic. A connection is left out from the moment at which
 * `isLeftOut` is true.
 */
export async function startCountingProxy(
  targetPort: number,
  isLeftOut: (piece: Buffer) => boolean,
): Promise<CountingProxy> {
  const sum: Carried = { turns: 0, toServer: 0, fromServer: 0 };
  const server = createServer((near) => {
    const far = createConnection(targetPort, "127.0.0.1");
    let isCounted = true;
    let isTurned = true;
    near.on("data", (piece) => {
      if (isLeftOut(piece)) isCounted = false;
      if (isCounted) {
        sum.toServer += piece.length;
        if (isTurned) sum.turns++;
      }
      isTurned = false;
      far.write(piece);
    });
    far.on("data", (piece) => {
      if (isCounted) sum.fromServer += piece.length;
      isTurned = true;
      near.write(piece);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => {});
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    carried: () => ({ ...sum }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
