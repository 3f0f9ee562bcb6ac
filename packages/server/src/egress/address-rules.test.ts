import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAllowedUrl, isPublicAddress } from "./address-rules.ts";

/** Any characters at all, but whole ones. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .map((point) => String.fromCodePoint(point))
  .filter((character) => character.isWellFormed());

describe("a URL may be asked", () => {
  test.each([
    "https://idp.example",
    "https://idp.example/",
    "https://idp.example/tenant/.well-known/openid-configuration",
    "https://login.idp.example/authorize?tenant=a&b=%20",
    "https://a-b.c1.example/",
    "https://1.2.3.example/",
    "https://xn--bcher-kva.example/",
    "https://idp.xn--p1ai/",
    "HTTPS://IDP.Example/Path",
    "https://idp.example:443/",
  ])("when it is https on port 443 with a public host name: %s", (url) => {
    expect(isAllowedUrl(url, [])).toBe(true);
  });
});

describe("a URL is refused (A52, N58)", () => {
  test.each([
    // Other schemes.
    "http://idp.example/",
    "javascript:alert(1)",
    "javascript://idp.example/%0aalert(1)",
    "data:application/json,{}",
    "file:///etc/passwd",
    "file://idp.example/etc/passwd",
    "ftp://idp.example/",
    "ws://idp.example/",
    "wss://idp.example/",
    "gopher://idp.example/",
    "blob:https://idp.example/1",
    "view-source:https://idp.example/",
    "httpss://idp.example/",
    // No URL at all.
    "",
    "idp.example",
    "//idp.example/",
    "/path",
    "https://",
    "https:///",
    "https://?x",
    // Other ports.
    "https://idp.example:80/",
    "https://idp.example:8443/",
    "https://idp.example:0/",
    "https://idp.example:65536/",
    "https://idp.example:-1/",
    // Another host's name in front.
    "https://user:pass@idp.example/",
    "https://user@idp.example/",
    "https://:pass@idp.example/",
    "https://idp.example@evil.example/",
    "https://idp.example%40evil.example/",
    "https://idp.example:443@evil.example/",
    // Addresses in every spelling.
    "https://127.0.0.1/",
    "https://8.8.8.8/",
    "https://169.254.169.254/latest/meta-data/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://017700000001/",
    "https://0x7f.1/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://127.0.1/",
    "https://127.0.0.1./",
    "https://0/",
    "https://%31%32%37.0.0.1/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:7f00:1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2606:4700:4700::1111]/",
    "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/",
    "https://[v1.a]/",
    "https://::1/",
    "https://256.256.256.256/",
    "https://1.2.3.4.5/",
    "https://0x7f.example.0x1/",
    // Names that mean this machine or this network.
    "https://localhost/",
    "https://LOCALHOST/",
    "https://localhost./",
    "https://metadata/",
    "https://idp/",
    "https://com/",
    // Host names that are none.
    "https://idp.example./",
    "https://idp.example../",
    "https://.idp.example/",
    "https://idp..example/",
    "https://./",
    "https://idp_a.example/",
    "https://_dmarc.example/",
    "https://-idp.example/",
    "https://idp-.example/",
    "https://*.example/",
    "https://idp$.example/",
    "https://idp!.example/",
    "https://idp.123/",
    "https://idp.0x7f/",
    "https://xn--a/",
    "https://idp.example%00.evil.example/",
    "https://idp%0d%0a.example/",
    // Letters that only look or fold like others.
    "https://idp。example/",
    "https://idp．example/",
    "https://１２７.０.０.１/",
    "https://①②⑦.0.0.1/",
    "https://bücher.example/",
    "https://іdp.example/",
    "https://idp.example/päth",
    "https://idp\u00ad.example/",
    "https://idp\u200d.example/",
    "\ufeffhttps://idp.example/",
    // Characters that parsers take out or turn.
    " https://idp.example/",
    "https://idp.example/ ",
    "https://idp.example/a b",
    "https://idp .example/",
    "\thttps://idp.example/",
    "https://idp\t.example/",
    "https://idp\n.example/",
    "https://idp\r\n.example/",
    "ht\ntps://idp.example/",
    "https://idp.example/\r\nHost:evil.example",
    "https://idp.example/\x00",
    "https://idp\x00.example/",
    "https://idp.example/\x7f",
    "https:\\\\idp.example\\",
    "https://idp.example\\@evil.example/",
    "https://idp.example/\\..",
    // Fragments.
    "https://idp.example/#a",
    "https://idp.example#a",
    "https://idp.example/?a#b",
    "https://idp.example#@evil.example/",
  ])("%j", (url) => {
    expect(isAllowedUrl(url, [])).toBe(false);
  });

  test.each([
    "https://idp.example/authorize#",
    "https://idp.example/authorize?a#",
    "https://@idp.example/",
    "https://:@idp.example/",
  ])("also when its fragment or its user is there but empty: %s", (url) => {
    expect(isAllowedUrl(url, [])).toBe(false);
  });

  test.each(["https:idp.example/", "https:/idp.example/", "https:///idp.example/", "https://idp%2Eexample/"])(
    "when its host is not written out: %s",
    (url) => {
      expect(isAllowedUrl(url, [])).toBe(false);
    },
  );

  test("whatever its host, unless that is letters, digits and hyphens in labels", () => {
    const host = fc.oneof(fc.string({ unit: anyCharacter }), fc.webAuthority(), fc.ipV4(), fc.ipV6());
    fc.assert(
      fc.property(host, (name) => {
        const url = `https://${name}/`;
        if (!isAllowedUrl(url, [])) return;
        expect(new URL(url).host).toMatch(/^([a-z0-9-]+\.)+[a-z0-9-]*[a-z-][a-z0-9-]*$/);
      }),
      { numRuns: 200 },
    );
  });
});

describe("length", () => {
  const ofLength = (length: number) => "https://idp.example/".padEnd(length, "a");
  const withLabel = (length: number) => `https://${"a".repeat(length)}.example/`;
  const withHost = (length: number) => `https://${"a.".repeat(200).slice(0, length - 8)}.example/`;

  test.each([
    ["a URL", ofLength, 2048],
    ["a label", withLabel, 63],
    ["a host", withHost, 253],
  ])("of %s ends somewhere", (_, make, most) => {
    expect(isAllowedUrl(make(most), [])).toBe(true);
    expect(isAllowedUrl(make(most + (make === withHost ? 2 : 1)), [])).toBe(false);
    expect(isAllowedUrl(make(3000), [])).toBe(false);
  });
});

describe("an origin that the operator allows", () => {
  const allowed = [
    "http://127.0.0.1:9000",
    "https://idp.internal:8443",
    "https://keycloak",
    "http://[::1]:9000",
  ];

  test.each([
    "http://127.0.0.1:9000",
    "http://127.0.0.1:9000/realms/a?b=c",
    "https://idp.internal:8443/",
    "https://keycloak/",
    "https://keycloak:443/",
    "http://[::1]:9000/",
  ])("passes: %s", (url) => {
    expect(isAllowedUrl(url, allowed)).toBe(true);
    expect(isAllowedUrl(url, [])).toBe(false);
  });

  test.each([
    ["another scheme", "https://127.0.0.1:9000/"],
    ["another scheme", "http://idp.internal:8443/"],
    ["another scheme", "http://keycloak/"],
    ["another scheme", "ws://127.0.0.1:9000/"],
    ["another port", "http://127.0.0.1:9001/"],
    ["another port", "https://keycloak:8443/"],
    ["no port", "http://127.0.0.1/"],
    ["another host", "http://localhost:9000/"],
    ["another host", "http://127.0.0.2:9000/"],
    ["a host that begins like it", "http://127.0.0.1.evil.example:9000/"],
    ["a dot at the end", "https://keycloak./"],
    ["its name as a user", "http://127.0.0.1:9000@evil.example/"],
    ["a user", "http://user:pass@127.0.0.1:9000/"],
    ["a fragment", "http://127.0.0.1:9000/#a"],
    ["a line break", "http://127.0.0.1:9000/\r\n"],
    ["a backslash", "http:\\\\127.0.0.1:9000\\"],
  ])("does not let %s pass: %j", (_, url) => {
    expect(isAllowedUrl(url, allowed)).toBe(false);
  });

  test("does not let 3000 characters pass", () => {
    expect(isAllowedUrl("http://127.0.0.1:9000/".padEnd(3000, "a"), allowed)).toBe(false);
  });

  test("takes nothing from the others", () => {
    expect(isAllowedUrl("https://idp.example/", allowed)).toBe(true);
    expect(isAllowedUrl("http://idp.example/", allowed)).toBe(false);
  });
});

const END = "ffff:ffff:ffff:ffff:ffff";
// First and last address of a range, and the public addresses before and after it.
const RANGES: [string, string, string, string | null, string | null][] = [
  ["this network", "0.0.0.0", "0.255.255.255", null, "1.0.0.0"],
  ["private 10/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["carrier NAT", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["link local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["private 172.16/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["documentation 1", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["AS112 v4", "192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"],
  ["AMT", "192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"],
  ["6to4 relays", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["private 192.168/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["AS112 direct", "192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"],
  ["benchmarks", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["documentation 2", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["documentation 3", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["multicast", "224.0.0.0", "239.255.255.255", "223.255.255.255", null],
  ["reserved and broadcast", "240.0.0.0", "255.255.255.255", null, null],
  ["unspecified", "::", "::", null, null],
  ["loopback", "::1", "::1", null, null],
  ["IPv4-compatible", "::0.0.0.2", "::255.255.255.255", null, null],
  ["IPv4-mapped", "::ffff:0:0", "::ffff:ffff:ffff", null, null],
  ["NAT64", "64:ff9b::", "64:ff9b::ffff:ffff", null, null],
  ["local NAT64", "64:ff9b:1::", `64:ff9b:1:${END}`, null, null],
  ["discard", "100::", "100::ffff:ffff:ffff:ffff", null, null],
  ["dummy", "100:0:0:1::", "100::1:ffff:ffff:ffff:ffff", null, null],
  ["below global unicast", "::2:0:0:0:0", `1fff:ffff:ffff:${END}`, null, "2000::"],
  ["protocol assignments", "2001::", `2001:1ff:ffff:${END}`, `2000:ffff:ffff:${END}`, "2001:200::"],
  ["Teredo", "2001::", `2001:0:ffff:${END}`, null, null],
  ["benchmarks", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", null, null],
  ["ORCHID", "2001:10::", `2001:1f:ffff:${END}`, null, null],
  ["ORCHIDv2", "2001:20::", `2001:2f:ffff:${END}`, null, null],
  ["drone ids", "2001:30::", `2001:3f:ffff:${END}`, null, null],
  ["documentation", "2001:db8::", `2001:db8:ffff:${END}`, `2001:db7:ffff:${END}`, "2001:db9::"],
  ["6to4", "2002::", `2002:ffff:ffff:${END}`, `2001:ffff:ffff:${END}`, "2003::"],
  ["AS112", "2620:4f:8000::", `2620:4f:8000:${END}`, `2620:4f:7fff:${END}`, "2620:4f:8001::"],
  ["documentation", "3fff::", `3fff:fff:ffff:${END}`, `3ffe:ffff:ffff:${END}`, "3fff:1000::"],
  ["above global unicast", "4000::", `ffff:ffff:ffff:${END}`, `3fff:ffff:ffff:${END}`, null],
  ["segment routing", "5f00::", `5f00:ffff:ffff:${END}`, null, null],
  ["unique local", "fc00::", `fdff:ffff:ffff:${END}`, null, null],
  ["link local", "fe80::", `febf:ffff:ffff:${END}`, null, null],
  ["site local", "fec0::", `feff:ffff:ffff:${END}`, null, null],
  ["multicast", "ff00::", `ffff:ffff:ffff:${END}`, null, null],
];

describe("an address", () => {
  test.each(RANGES)("of a special purpose is not public, its neighbours are: %s, %s to %s", (...range) => {
    const [, first, last, before, after] = range;
    expect([first, last].map(isPublicAddress)).toEqual([false, false]);
    for (const neighbour of [before, after]) {
      if (neighbour !== null) expect([neighbour, isPublicAddress(neighbour)]).toEqual([neighbour, true]);
    }
  });

  test.each([
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "2A00:1450:4001::1",
    "2a00::1.2.3.4",
  ])("of the internet is public: %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    ["mapped", "::ffff:8.8.8.8"],
    ["mapped", "::ffff:808:808"],
    ["mapped, loopback", "::FFFF:127.0.0.1"],
    ["mapped, written out", "0:0:0:0:0:ffff:7f00:0001"],
    ["6to4", "2002:808:808::1"],
    ["6to4 of loopback", "2002:7f00:1::"],
    ["NAT64", "64:ff9b::8.8.8.8"],
    ["NAT64 of metadata", "64:ff9b::a9fe:a9fe"],
    ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    ["a zone", "fe80::1%eth0"],
    ["a zone on a public address", "2606:4700:4700::1111%eth0"],
    ["loopback written out", "0:0:0:0:0:0:0:1"],
  ])("that carries another or a zone is not public (%s): %s", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([
    "",
    "idp.example",
    "8.8.8",
    "8.8.8.8 ",
    " 8.8.8.8",
    "08.8.8.8",
    "010.0.0.1",
    "0x8.8.8.8",
    "134744072",
  ])("in no usual spelling is not public: %j", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  test.each([
    "8.8.8.8:443",
    "[2606:4700::1111]",
    "2606:4700::1111::",
    "2606:4700",
    "8.8.8.8\x00",
    "８.８.８.８",
  ])("with more or less around it is not public: %j", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  const numberOf = (address: string) => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const rangesV4 = RANGES.filter(([, first]) => !first.includes(":"));

  test("of IPv4 is public exactly when it is in none of the ranges", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const isSpecial = rangesV4.some(
          ([, first, last]) => numberOf(first) <= numberOf(address) && numberOf(address) <= numberOf(last),
        );
        expect(isPublicAddress(address)).toBe(!isSpecial);
      }),
      { numRuns: 2000 },
    );
  });

  test("of IPv4 is never public inside an IPv6 address", () => {
    const wrap = fc.constantFrom(
      "::",
      "::ffff:",
      "::ffff:0:",
      "64:ff9b::",
      "64:ff9b:1::",
      "2001::",
      "2002::",
    );
    fc.assert(
      fc.property(wrap, fc.ipV4(), (prefix, address) => {
        expect(isPublicAddress(`${prefix}${address}`)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
