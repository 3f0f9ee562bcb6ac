import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { Script } from "./script.ts";

/** A connection to a server, or to each server of a cluster. It repeats nothing and queues nothing. */
export type ValkeyClient = {
  connect(): Promise<void>;
  /** Runs a script on one slot. */
  evaluate(script: Script, slot: string, args: readonly (string | number)[]): Promise<unknown>;
  /** How a server evicts keys when its memory is full; undefined: not at all. Rejects without an answer. */
  findEviction(): Promise<string | undefined>;
  /** All that `work` sends leaves in one write. */
  together(work: () => void): void;
  /** Closes the sockets without sending QUIT: a server that does not answer would not answer that either. */
  destroy(): void;
};

const connection = {
  lazyConnect: true,
  keepAlive: 5000,
  // Version 3 of the protocol has nothing that is needed here, and older servers do not know it.
  protocol: 2 as const,
  disableClientInfo: true,
  connectionName: "latchkey",
  // The first script that the server runs shows whether it is well.
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
} satisfies RedisOptions;

export function createClient(
  urls: readonly string[],
  connectWithinMs: number,
  onLost: (cause: Error) => void,
): ValkeyClient {
  const options = { ...connection, connectTimeout: connectWithinMs };
  const client = urls.length > 1 ? clusterOf(urls, options) : new Redis(urls[0] as string, options);
  // The event of an error comes before the end that the error causes, and says more.
  let cause = new Error("the connection was closed");
  client.on("error", (error: Error) => {
    cause = error.message ? error : cause;
  });
  client.on("end", () => onLost(cause));
  let isDestroyed = false;
  const lines = (): Redis[] => (client instanceof Redis ? [client] : client.nodes("all"));
  return {
    connect: () =>
      client.connect().catch((error: Error) => {
        throw error.message === "Connection is closed." ? cause : error;
      }),
    async evaluate({ text, sha }, slot, args) {
      // The braces make all of a slot's keys live on one server of a cluster.
      const key = `lk:{${slot}}`;
      try {
        return await client.evalsha(sha, 1, key, ...args);
      } catch (error) {
        if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
        return client.eval(text, 1, key, ...args);
      }
    },
    async findEviction() {
      const told = await Promise.all(lines().map((line) => line.info("memory")));
      return told.map(evictionIn).find((policy) => policy !== undefined);
    },
    together(work) {
      const streams = lines().map(({ stream }) => stream);
      for (const stream of streams) stream?.cork();
      work();
      for (const stream of streams) stream?.uncork();
    },
    destroy() {
      // Every missing answer leads here, and each `disconnect` would add a listener and a timer to the socket.
      if (isDestroyed) return;
      isDestroyed = true;
      const streams = lines().map(({ stream }) => stream);
      client.disconnect();
      for (const stream of streams) stream?.destroy();
    },
  };
}

/** Without a bound on its memory a server throws nothing away, whatever its policy. */
function evictionIn(memory: string): string | undefined {
  const [, policy] = /^maxmemory_policy:(\S+)/m.exec(memory) ?? [];
  return /^maxmemory:[1-9]/m.test(memory) && policy !== "noeviction" ? policy : undefined;
}

function clusterOf(
  urls: readonly string[],
  options: typeof connection & { connectTimeout: number },
): Cluster {
  const nodes = urls.map((url) => new URL(url));
  const { protocol, username, password } = nodes[0] as URL;
  const redisOptions = {
    ...options,
    lazyConnect: false,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" && { tls: {} }),
  };
  return new Cluster(
    nodes.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 6379) })),
    {
      redisOptions,
      lazyConnect: true,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      clusterRetryStrategy: () => null,
      slotsRefreshTimeout: options.connectTimeout,
      // Follows a slot that is being moved to another server; does not wait for a server that is gone.
      maxRedirections: 2,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      retryDelayOnTryAgain: 0,
      // A certificate names the host and not its address.
      ...(protocol === "rediss:" && { dnsLookup: (host, done) => done(null, host) }),
    },
  );
}
