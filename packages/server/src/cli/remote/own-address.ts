import { isIPv6 } from "node:net";

/** The address at which this machine reaches the service. A service that listens on every address is asked on the loopback one. */
export function ownAddressOf({ host }: { host: string }, port: number): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
