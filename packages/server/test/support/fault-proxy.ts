import { createConnection, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The fate of a chunk: it passes, its connection stays silent for good, or its connection is reset. */
type Verdict = "pass" | "silence" | "cut";

/** A direction of the connection. */
type Way = {
  /** The delay of each chunk. */
  delayMs: number;
  bytesPerSecond: number;
  /** Open and later connections hold everything until `mend`; then all of it arrives, in order. */
  isHeld: boolean;
  /** Judges each chunk; `connection` counts from 0 in the order in which they were opened. */
  judge(piece: Buffer, connection: number): Verdict;
};

type Which = (connection: number) => boolean;

/** A proxy to a server on loopback with faults, for each direction separately. */
export type FaultProxy = {
  port: number;
  /** The same address, through this proxy. */
  via(url: string): string;
  toServer: Way;
  toClient: Way;
  /** Holds both directions: a partition, after which TCP delivers the kept data. */
  hold(): void;
  /** Resets open connections, all of them or some. */
  cut(which?: Which): void;
  /** Open connections carry nothing any more, and neither end is notified: a failover, a forgotten NAT entry. */
  silence(which?: Which): void;
  /** Resets later connections as soon as they are open. */
  refuse(): void;
  /** Open and later connections are silent: everything that is sent is lost. */
  blackHole(): void;
  /** Ends every fault. Held chunks arrive; a silent connection stays silent. */
  mend(): void;
  /** The number of connections that were opened. */
  opened(): number;
  close(): Promise<void>;
};

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  type Line = { number: number; isSilent: boolean; ends: Socket[] };
  const lines = new Set<Line>();
  let opened = 0;
  let greeting: Verdict = "pass";
  let heldBack: (() => void)[] = [];

  const server = createServer((near) => {
    const line: Line = { number: opened++, isSilent: greeting === "silence", ends: [near] };
    near.on("error", () => {});
    if (greeting === "cut") return void near.resetAndDestroy();
    lines.add(line);
    // The server does not see a connection that was silent from the start.
    if (line.isSilent) return void near.resume().on("close", () => lines.delete(line));
    const far = createConnection(targetPort, "127.0.0.1");
    far.on("error", () => {});
    line.ends.push(far);
    carry(line, near, far, proxy.toServer);
    carry(line, far, near, proxy.toClient);
  });

  function carry(line: Line, from: Socket, to: Socket, way: Way): void {
    let last = Promise.resolve();
    const later = (bytes: number, work: () => void) => {
      last = last.then(async () => {
        const takesMs = way.delayMs + (bytes / way.bytesPerSecond) * 1000;
        if (takesMs > 0) await sleep(takesMs);
        while (way.isHeld) await new Promise<void>((resolve) => heldBack.push(resolve));
        if (!line.isSilent) work();
      });
    };
    from.on("data", (piece) => {
      const verdict = line.isSilent ? "silence" : way.judge(piece, line.number);
      if (verdict === "silence") line.isSilent = true;
      if (verdict === "cut") reset(line);
      later(piece.length, () => to.write(piece));
    });
    from.on("end", () => later(0, () => to.end()));
    from.on("close", () => {
      // A silent connection does not report the close of either end.
      later(0, () => to.destroy());
      if (line.ends.every((end) => end.destroyed)) lines.delete(line);
    });
  }

  function reset(line: Line): void {
    lines.delete(line);
    for (const end of line.ends) end.resetAndDestroy();
  }

  /** A copy: the set changes while they are cut. */
  const some = (which: Which = () => true) => [...lines].filter(({ number }) => which(number));
  const untouched = (): Way => ({
    delayMs: 0,
    bytesPerSecond: Number.POSITIVE_INFINITY,
    isHeld: false,
    judge: () => "pass",
  });

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: FaultProxy = {
    port: (server.address() as { port: number }).port,
    via(address) {
      const url = new URL(address);
      url.hostname = "127.0.0.1";
      url.port = String(proxy.port);
      return url.href;
    },
    toServer: untouched(),
    toClient: untouched(),
    hold() {
      proxy.toServer.isHeld = true;
      proxy.toClient.isHeld = true;
    },
    cut: (which) => some(which).forEach(reset),
    silence(which) {
      for (const line of some(which)) line.isSilent = true;
    },
    refuse() {
      greeting = "cut";
    },
    blackHole() {
      greeting = "silence";
      proxy.silence();
    },
    mend() {
      greeting = "pass";
      Object.assign(proxy.toServer, untouched());
      Object.assign(proxy.toClient, untouched());
      for (const goOn of heldBack) goOn();
      heldBack = [];
      // The other end has left unnoticed: now TCP reports it.
      for (const line of lines) if (line.ends.some((end) => end.destroyed)) reset(line);
    },
    opened: () => opened,
    async close() {
      proxy.mend();
      for (const { ends } of lines) for (const end of ends) end.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
