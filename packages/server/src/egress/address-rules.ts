import { BlockList, isIP } from "node:net";

/** True when a request may be sent to the URL. The same parser reads the URL here and for the request. */
export function isAllowedUrl(text: string, allowedOrigins: readonly string[]): boolean {
  const isPlain = text.length <= 2048 && /^[\x21-\x7e]+$/.test(text) && !text.includes("\\");
  if (!isPlain || !URL.canParse(text)) return false;
  const url = new URL(text);
  // The scheme, two slashes and a host must be written out: no percent-encoding in the host, and no user before it.
  const authority = /^[a-z]+:\/\/([^/?]*)/i.exec(text)?.[1] ?? "";
  if (authority === "" || /[@%]/.test(authority) || text.includes("#")) return false;
  if (allowedOrigins.includes(url.origin)) return true;
  return url.protocol === "https:" && url.port === "" && isHostName(url.hostname);
}

/** At least two labels of letters, digits and hyphens, the last not a number; no IP address in any spelling. */
function isHostName(host: string): boolean {
  if (host.length > 253 || isIP(host) !== 0) return false;
  const labels = host.split(".");
  const isLabel = (label: string) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label);
  return labels.length >= 2 && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? "");
}

// The networks that IANA's special-purpose registries set apart from the public internet.
const NOT_PUBLIC_V4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;
// Inside 2000::/3, the global unicast, these are not public: tunnels of IPv4, benchmarks, documentation.
const NOT_PUBLIC_V6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
] as const;

const notPublic = new BlockList();
for (const [network, bits] of NOT_PUBLIC_V4) notPublic.addSubnet(network, bits, "ipv4");
for (const [network, bits] of NOT_PUBLIC_V6) notPublic.addSubnet(network, bits, "ipv6");
const globalV6 = new BlockList();
globalV6.addSubnet("2000::", 3, "ipv6");

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic.check(address, "ipv4");
  return (
    family === 6 &&
    !address.includes("%") &&
    globalV6.check(address, "ipv6") &&
    !notPublic.check(address, "ipv6")
  );
}
