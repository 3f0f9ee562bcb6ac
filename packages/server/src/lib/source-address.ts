import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { createMemo } from "./memo.ts";

/**
 * The source of a request as one text per counted source: IPv4 as it is, also inside IPv6; IPv6 by its /64, because the
 * owner of one address usually has the whole /64.
 */
export type TrustedProxies = { includes(address: string): boolean };

export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = "", bits] = cidr.split("/");
    const family = isIPv4(network) ? "ipv4" : "ipv6";
    list.addSubnet(network, bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits), family);
  }
  // Cached, because behind a proxy all requests come from few peers.
  const known = createMemo<boolean>(MAX_KNOWN);
  return {
    includes(address) {
      const found = known.get(address);
      if (found !== undefined) return found;
      const plain = unmapped(address);
      const isOne = isIP(plain) !== 0 && list.check(plain, isIPv4(plain) ? "ipv4" : "ipv6");
      known.keep(address, isOne);
      return isOne;
    },
  };
}

const MAX_KNOWN = 1000;

/**
 * The right-most hop that is not a trusted proxy. Hops further left were written by strangers. A hop that is no address
 * ends the search, because the hops beyond it cannot be trusted.
 */
export function sourceOf(peer: string, forwardedFor: string | undefined, proxies: TrustedProxies): string {
  let source = peer;
  const hops = forwardedFor?.split(",") ?? [];
  while (proxies.includes(source) && hops.length > 0) {
    const hop = withoutPort((hops.pop() as string).trim());
    if (isIP(hop) === 0) break;
    source = hop;
  }
  return canonicalSource(source);
}

/** Some proxies write a hop as `192.0.2.1:4711` or `[2001:db8::1]:443`. IPv6 has a port only after brackets. */
function withoutPort(hop: string): string {
  const [, v6, v4] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(hop) ?? [];
  return v4 ?? (v6 && isIPv6(v6) ? v6 : hop);
}

export function canonicalSource(address: string): string {
  const plain = unmapped(address);
  switch (isIP(plain)) {
    case 4:
      return plain;
    case 6:
      return `${groups(plain).slice(0, 4).join(":")}::/64`;
    default:
      return "unknown";
  }
}

/** The network of one party: the /48 of an IPv6 source, the address of an IPv4 source. */
export const networkOf = (source: string): string =>
  source.endsWith("::/64") ? `${source.split(":").slice(0, 3).join(":")}::/48` : source;

/** A shortened source for records: it tells an office from a home, and does not identify a person. */
export const subnetOf = (source: string): string | null => {
  if (source.endsWith("::/64")) return source;
  return isIPv4(source) ? `${source.split(".").slice(0, 3).join(".")}.0/24` : null;
};

function unmapped(address: string): string {
  const withoutZone = address.split("%")[0] as string;
  if (isIP(withoutZone) !== 6) return withoutZone;
  const all = groups(withoutZone);
  if (!all.slice(0, 5).every((group) => group === "0") || all[5] !== "ffff") return withoutZone;
  const [high = 0, low = 0] = all.slice(6).map((group) => Number.parseInt(group, 16));
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The eight groups of an IPv6 address without leading zeros. The WHATWG URL parser writes the canonical form. */
function groups(address: string): string[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  if (tail === undefined) return left;
  const right = tail === "" ? [] : tail.split(":");
  return [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
}
