import { isIPv6 } from "node:net";

/**
 * The address at which this machine reaches the service: the loopback address if the service listens on all addresses.
 */
export function ownAddressOf({ host }: { host: string }, port: number): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
