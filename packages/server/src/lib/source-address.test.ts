import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalSource, networkOf, sourceOf, subnetOf, trustedProxies } from "./source-address.ts";

const nobody = trustedProxies([]);
const ours = trustedProxies(["10.0.0.0/8", "192.0.2.7", "fd00::/8", "2001:db8::7"]);

describe("networks of proxies", () => {
  test.each([
    ["10.0.0.0", true],
    ["10.255.255.255", true],
    ["11.0.0.0", false],
    ["9.255.255.255", false],
    ["192.0.2.7", true],
    ["192.0.2.8", false],
    ["::ffff:10.1.2.3", true],
    ["::ffff:a01:203", true],
    ["::ffff:11.0.0.1", false],
    ["::10.1.2.3", false],
    ["::1:ffff:10.1.2.3", false],
    ["fd00::1", true],
    ["fdff:ffff::", true],
    ["fc00::1", false],
    ["fd00::1%eth0", true],
    ["2001:db8::7", true],
    ["2001:DB8:0:0:0:0:0:7", true],
    ["2001:db8::8", false],
    ["", false],
    ["unknown", false],
    ["10.0.0.1:443", false],
    ["10.0.0", false],
    ["010.0.0.1", false],
  ])("%s is a proxy: %s", (address, expected) => {
    expect(ours.includes(address)).toBe(expected);
  });

  test("an IPv4 network may be written inside IPv6", () => {
    expect(trustedProxies(["::ffff:10.0.0.0/104"]).includes("10.1.2.3")).toBe(true);
    expect(trustedProxies(["::ffff:10.0.0.0/104"]).includes("11.1.2.3")).toBe(false);
  });

  test("no proxy is trusted unless it is configured", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (address) => {
        expect(nobody.includes(address)).toBe(false);
      }),
    );
  });
});

describe("the source of a request", () => {
  test.each([
    ["the peer, when there is no header", "10.0.0.1", undefined, "10.0.0.1"],
    ["the peer, when the header is empty", "10.0.0.1", "", "10.0.0.1"],
    ["the peer, when it is a stranger, whatever it says", "198.51.100.1", "203.0.113.9", "198.51.100.1"],
    ["the hop that our proxy saw", "10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["the right-most hop of a stranger's list", "10.0.0.1", "1.1.1.1, 2.2.2.2, 203.0.113.9", "203.0.113.9"],
    ["behind several proxies of ours", "10.0.0.1", "1.1.1.1, 203.0.113.9, fd00::5, 10.0.0.2", "203.0.113.9"],
    ["not what stands left of a stranger, ours or not", "10.0.0.1", "10.0.0.3, 203.0.113.9", "203.0.113.9"],
    ["the left-most hop, when all are ours", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["behind a proxy that listens on IPv6", "::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["behind a proxy with a zone", "fd00::1%eth0", "203.0.113.9", "203.0.113.9"],
    ["by /64, when the hop is IPv6", "10.0.0.1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["without white space", "10.0.0.1", " 1.1.1.1 ,\t203.0.113.9 ", "203.0.113.9"],
    ["our last proxy, before a hop that is no address", "10.0.0.1", "203.0.113.9, garbage", "10.0.0.1"],
    ["our last proxy, before an empty hop", "10.0.0.1", "203.0.113.9,", "10.0.0.1"],
    ["without the port of the hop", "10.0.0.1", "203.0.113.9:5678", "203.0.113.9"],
    ["without port and brackets", "10.0.0.1", "[2001:db8::1]:443", "2001:db8:0:0::/64"],
    ["without brackets", "10.0.0.1", "[2001:db8::1]", "2001:db8:0:0::/64"],
    ["IPv4 inside brackets of IPv6", "10.0.0.1", "[::ffff:203.0.113.9]:443", "203.0.113.9"],
    [
      "behind several proxies with ports",
      "10.0.0.1",
      "203.0.113.9:1, [fd00::5]:2, 10.0.0.2:3",
      "203.0.113.9",
    ],
    ["our last proxy, before a port that is none", "10.0.0.1", "203.0.113.9:123456", "10.0.0.1"],
    ["our last proxy, before an empty port", "10.0.0.1", "203.0.113.9:", "10.0.0.1"],
    ["our last proxy, before a name with a port", "10.0.0.1", "proxy.example:80", "10.0.0.1"],
    ["our last proxy, before IPv4 in brackets", "10.0.0.1", "[203.0.113.9]:80", "10.0.0.1"],
    ["our last proxy, before an open bracket", "10.0.0.1", "[2001:db8::1", "10.0.0.1"],
    ["IPv6 whole, where its end might be a port", "10.0.0.1", "2001:db8:1:2:3:4:5:443", "2001:db8:1:2::/64"],
    ["our last proxy, before half an address", "10.0.0.1", "203.0.113.9, 10.0.0, 10.0.0.2", "10.0.0.2"],
    ["our last proxy, before an octal address", "10.0.0.1", "0313.0.113.9", "10.0.0.1"],
    ["unknown, when the peer is", "", "203.0.113.9", "unknown"],
  ])("is %s", (_, peer, forwardedFor, expected) => {
    expect(sourceOf(peer, forwardedFor, ours)).toBe(expected);
  });

  test("is the same for a stranger, however the header changes (T35)", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (forwardedFor) => {
        expect(sourceOf("198.51.100.1", forwardedFor, ours)).toBe("198.51.100.1");
        expect(sourceOf("10.0.0.1", forwardedFor, nobody)).toBe("10.0.0.1");
      }),
    );
  });

  test("is the address that the trusted proxy saw, whatever the stranger wrote before it (A61)", () => {
    const written = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constant("10.0.0.9")));
    fc.assert(
      fc.property(written, (hops) => {
        expect(sourceOf("10.0.0.1", [...hops, "203.0.113.9"].join(","), ours)).toBe("203.0.113.9");
      }),
    );
  });
});

describe("each source has one text (A62)", () => {
  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::FFFF:CB00:7109", "203.0.113.9"],
    ["0:0:0:0:0:ffff:203.0.113.9", "203.0.113.9"],
    ["::ffff:0.0.0.0", "0.0.0.0"],
    ["::ffff:255.255.255.255", "255.255.255.255"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0DB8:0000:0000:FFFF::", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["fe80::2%eth1", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4::/64"],
    ["1:2:3:4:5:6:7::", "1:2:3:4::/64"],
    ["", "unknown"],
    ["localhost", "unknown"],
    ["203.0.113.9:80", "unknown"],
    ["[::1]", "unknown"],
    ["::1::", "unknown"],
    ["1.2.3", "unknown"],
    ["1.2.3.4, 5.6.7.8", "unknown"],
    ["%", "unknown"],
  ])("%s counts as %s", (address, expected) => {
    expect(canonicalSource(address)).toBe(expected);
  });

  test("an IPv4 address counts as itself, also when it is written inside IPv6 in either form", () => {
    const byte = fc.nat(255);
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte, byte), ([a, b, c, d]) => {
        const plain = `${a}.${b}.${c}.${d}`;
        const group = (high: number, low: number) => ((high << 8) | low).toString(16);
        expect(canonicalSource(plain)).toBe(plain);
        expect(canonicalSource(`::ffff:${plain}`)).toBe(plain);
        expect(canonicalSource(`::ffff:${group(a, b)}:${group(c, d)}`)).toBe(plain);
      }),
    );
  });

  test("IPv6 addresses count as one exactly when their first four groups are the same", () => {
    const group = fc.integer({ min: 1, max: 0xffff });
    const four = fc.tuple(group, group, group, group);
    const write = (groups: number[]) => groups.map((part) => part.toString(16)).join(":");
    fc.assert(
      fc.property(four, four, four, four, (network, host, otherHost, otherNetwork) => {
        fc.pre(write(network) !== write(otherNetwork));
        const source = canonicalSource(write([...network, ...host]));
        expect(canonicalSource(write([...network, ...otherHost]).toUpperCase())).toBe(source);
        expect(canonicalSource(write([...otherNetwork, ...host]))).not.toBe(source);
      }),
    );
  });

  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["unknown", "unknown"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:db8:1:ffff::", "2001:db8:1::/48"],
    ["2001:db8:2::", "2001:db8:2::/48"],
    ["::1", "0:0:0::/48"],
  ])("the network of %s is %s", (address, expected) => {
    expect(networkOf(canonicalSource(address))).toBe(expected);
  });

  test.each([
    ["203.0.113.9", "203.0.113.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["unknown", null],
  ])("a record has for %s the network %s", (address, expected) => {
    expect(subnetOf(canonicalSource(address))).toBe(expected);
  });

  test("any text gives a source", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.ipV6(), fc.ipV4Extended()), (text) => {
        expect(canonicalSource(text)).toMatch(/^(unknown|[\d.]+|[\da-f:]+::\/64)$/);
      }),
    );
  });
});
