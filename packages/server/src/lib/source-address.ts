import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { createMemo } from "./memo.ts";

/**
 * Where a request came from, as one text per counted source: IPv4 as it is (also when written inside IPv6), IPv6 by
 * its /64, since whoever has one address of a /64 usually has them all.
 */
export type TrustedProxies = { includes(address: string): boolean };

export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = "", bits] = cidr.split("/");
    const family = isIPv4(network) ? "ipv4" : "ipv6";
    list.addSubnet(network, bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits), family);
  }
  // Behind a proxy, every request comes from the same few peers.
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
 * The right-most hop that is not one of our own proxies. Everything to its left was written by strangers. A hop that
 * is no address ends the walk: what stands beyond it cannot be trusted either.
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

/** `192.0.2.1:4711` and `[2001:db8::1]:443` are how some proxies write a hop; IPv6 has a port only behind brackets. */
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

/** What one party can be given at once: of a source counted by /64 its /48, of any other the source itself. */
export const networkOf = (source: string): string =>
  source.endsWith("::/64") ? `${source.split(":").slice(0, 3).join(":")}::/48` : source;

/** What a record may say of a source: enough to tell an office from a home, and not who it was. */
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

/** The eight groups of an IPv6 address, each without leading zeros. WHATWG URL writes the one canonical form. */
function groups(address: string): string[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  if (tail === undefined) return left;
  const right = tail === "" ? [] : tail.split(":");
  return [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
}
