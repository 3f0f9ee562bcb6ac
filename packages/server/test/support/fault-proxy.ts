import { createConnection, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A line to a server on loopback that can be made worse: slow, stalled, or silent without a reset. */
export type FaultProxy = {
  port: number;
  /** How long each piece takes in each direction. */
  delayMs: number;
  /** Holds everything back, on connections of now and of later, until `resume`; then all of it arrives. */
  stall(): void;
  resume(): void;
  /** The connections of now never carry anything again, and nobody is told: a failover, a forgotten NAT entry. */
  silence(): void;
  /** Asked of each piece on its way to the server: `false` silences its connection. */
  passes: (piece: Buffer) => boolean;
  /** Connections that were opened in all. */
  opened(): number;
  close(): Promise<void>;
};

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  type Line = { isSilent: boolean; ends: Socket[] };
  const lines = new Set<Line>();
  let opened = 0;
  let going = Promise.resolve();
  let go = () => {};

  const server = createServer((near) => {
    opened++;
    const far = createConnection(targetPort, "127.0.0.1");
    const line: Line = { isSilent: false, ends: [near, far] };
    lines.add(line);
    carry(line, near, far, (piece) => proxy.passes(piece));
    carry(line, far, near, () => true);
  });

  function carry(line: Line, from: Socket, to: Socket, passes: (piece: Buffer) => boolean): void {
    let last = Promise.resolve();
    const later = (work: () => void) => {
      last = last.then(async () => {
        if (proxy.delayMs > 0) await sleep(proxy.delayMs);
        await going;
        if (!line.isSilent) work();
      });
    };
    from.on("data", (piece) => {
      if (!passes(piece)) line.isSilent = true;
      later(() => to.write(piece));
    });
    from.on("end", () => later(() => to.end()));
    from.on("error", () => {});
    from.on("close", () => {
      // A silent line tells nobody, whichever end has gone.
      later(() => to.destroy());
      if (line.ends.every((end) => end.destroyed)) lines.delete(line);
    });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: FaultProxy = {
    port: (server.address() as { port: number }).port,
    delayMs: 0,
    stall() {
      const { promise, resolve } = Promise.withResolvers<void>();
      going = promise;
      go = resolve;
    },
    resume: () => go(),
    silence() {
      for (const line of lines) line.isSilent = true;
    },
    passes: () => true,
    opened: () => opened,
    async close() {
      go();
      for (const { ends } of lines) for (const end of ends) end.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
