import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compact,
  good,
  idp,
  NONCE,
  ownHeader,
  p256,
  reasonFor,
  signers,
  signRaw,
  useIdTokens,
  verify,
  withClaims,
} from "../../test/support/id-tokens.ts";

useIdTokens();

describe("the form", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  test.each([
    ["with a key wrapped by RSA", { alg: "RSA-OAEP", enc: "A256GCM" }],
    ["compressed", { alg: "dir", enc: "A256GCM", zip: "DEF" }],
    ["with a password of 1e9 rounds", { alg: "PBES2-HS256+A128KW", enc: "A128GCM", p2c: 1e9, p2s: "AAAA" }],
  ])("refuses an encrypted token unread: %s (N37, A46)", async (_, header) => {
    expect(await reasonFor(`${part(header)}.AAAA.AAAA.AAAA.AAAA`)).toBe("id_token.encrypted");
    expect(await reasonFor(`${part(header)}..AAAA.AAAA.AAAA`)).toBe("id_token.encrypted");
    expect(await reasonFor("....")).toBe("id_token.encrypted");
  });

  const cut = (token: string) => token.split(".") as [string, string, string];
  test.each<[string, (token: string) => unknown]>([
    ["a space in front", (token) => ` ${token}`],
    ["a space behind", (token) => `${token} `],
    ["a line break behind", (token) => `${token}\n`],
    ["one part", (token) => cut(token)[0]],
    ["two parts", (token) => cut(token).slice(0, 2).join(".")],
    ["four parts", (token) => `${token}.AAAA`],
    ["six parts", (token) => `${token}.AAAA.AAAA.AAAA`],
    ["a plus", (token) => `${token.slice(0, -4)}+AAA`],
    ["a slash", (token) => `${token.slice(0, -4)}/AAA`],
    ["padding", (token) => `${token}=`],
    ["bits left over", (token) => `${token.slice(0, -1)}B`],
    ["a character too many", (token) => `${token}AAA`],
    ["five parts and a space", (token) => `${token}.AAAA.AAA A`],
    ["dots alone", () => ".."],
    ["an empty header", (token) => `.${cut(token)[1]}.${cut(token)[2]}`],
    ["an empty payload", (token) => `${cut(token)[0]}..${cut(token)[2]}`],
    ["nothing", () => ""],
    ["no text", () => undefined],
    ["a list", (token) => [token]],
    ["letters of another script", (token) => token.replace("e", "\u0435")],
    ["65 KB", () => idp.signToken(good({ more: "x".repeat(50_000) }))],
    [
      "the JSON form, flattened",
      (token) => {
        const [header, payload, signature] = cut(token);
        return JSON.stringify({ protected: header, payload, signature });
      },
    ],
    [
      "the JSON form as an object",
      (token) => {
        const [header, payload, signature] = cut(token);
        return { payload, signatures: [{ protected: header, signature }] };
      },
    ],
  ])("refuses a text that is not one token in its compact form: %s (N38)", async (_, change) => {
    expect(await reasonFor(change(idp.signToken(good())))).toBe("id_token.malformed");
  });

  test("may have at most 65,536 characters", async () => {
    const ofLength = (length: number): string => {
      for (const more of ["", "x", "xx"])
        for (let filler = 48_700; filler < 49_100; filler++) {
          const token = idp.signToken(good({ filler: "x".repeat(filler) }), { more });
          if (token.length === length) return token;
        }
      throw new Error("no such token");
    };
    expect(await reasonFor(ofLength(65_536))).toBeUndefined();
    expect(await reasonFor(ofLength(65_537))).toBe("id_token.malformed");
  });

  test("the last check of a refused token is the one that failed", async () => {
    const stranger = compact({ alg: "ES256", kid: "unknown" }, good(), signers.ES256(p256().privateKey));
    for (const token of [
      "no token",
      `${idp.signToken(good())}.AAAA.AAAA`,
      idp.signToken(good(), { alg: "RS256" }),
      stranger,
    ]) {
      const verdict = await verify(token);
      expect(verdict.checks.at(-1)).toMatchObject({
        check: "reason" in verdict ? verdict.reason : "accepted",
        passed: false,
      });
    }
  });

  const deep = (depth: number) => `{"x":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const json = (value: object) => JSON.stringify(value);
  type Parts = () => [string | Buffer, string | Buffer];

  test.each<[string, Parts]>([
    ["a byte order mark before the header", () => [`\ufeff${json(ownHeader())}`, json(good())]],
    ["a byte order mark before the payload", () => [json(ownHeader()), `\ufeff${json(good())}`]],
    ["bytes that are no UTF-8", () => [json(ownHeader()), Buffer.from('{"iss":"\xff"}', "latin1")]],
    ["UTF-16", () => [json(ownHeader()), Buffer.from(json(good()), "utf16le")]],
    ["a payload that is a list", () => [json(ownHeader()), "[]"]],
    ["a payload that is null", () => [json(ownHeader()), "null"]],
    ["a payload that is a token itself", () => [json(ownHeader()), idp.signToken(good())]],
    ["a header that is a text", () => ['"ES256"', json(good())]],
    ["a header that is a list", () => ['[{"alg":"ES256"}]', json(good())]],
    ["more behind the payload", () => [json(ownHeader()), `${json(good())}{}`]],
  ])("refuses a token that can be read in more than one way: %s (N39)", async (_, parts) => {
    expect(await reasonFor(signRaw(...parts()))).toBe("id_token.malformed");
  });

  const once = "each member once";
  const levels = "at most 8 levels of JSON";
  const whole = "whole characters";
  test.each<[string, Parts, string]>([
    [
      'a member twice in the payload, at "iss"',
      () => [json(ownHeader()), json(good()).replace("{", '{"iss":"bad",')],
      once,
    ],
    ['a member twice in the header, at "alg"', () => ['{"alg":"none","alg":"ES256"}', json(good())], once],
    [
      'a member twice in the payload, at "iss"',
      () => [json(ownHeader()), json(good()).replace("{", '{"\\u0069ss":"bad",')],
      once,
    ],
    [
      'a member twice in the payload, at "groups"',
      () => [json(ownHeader()), '{"a":1,"groups":[{"b":1,"b":2}]}'],
      once,
    ],
    [
      'half of a surrogate pair in the payload, at "name"',
      () => [json(ownHeader()), '{"name":"\\ud800"}'],
      whole,
    ],
    ["half of a surrogate pair in the payload", () => [json(ownHeader()), '{"\\ud800":1}'], whole],
    ['more levels in the payload, at "x"', () => [json(ownHeader()), deep(20)], levels],
    ['more levels in the payload, at "x"', () => [json(ownHeader()), deep(10_000)], levels],
    ['more levels in the header, at "x"', () => [deep(5000), json(good())], levels],
  ])("the refusal of its JSON names the part and the member: %s (N39)", async (found, parts, expected) => {
    const verdict = await verify(signRaw(...parts()));
    expect(verdict).toEqual({
      reason: "id_token.json",
      checks: [{ check: "id_token.json", passed: false, expected, found }],
    });
  });

  test.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "a claim called %s is a claim like others",
    async (name) => {
      for (const value of ['"x"', '{"sub":"x","polluted":true}', "null"]) {
        const member = `{"${name}":${value},`;
        const token = signRaw(json(ownHeader()).replace("{", member), json(good()).replace("{", member));
        const verdict = await verify(token);
        expect(verdict).toMatchObject({ claims: { sub: "subject" } });
        if ("claims" in verdict) expect(Object.keys(verdict.claims)).toContain(name);
      }
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  test.each<[string, object]>([
    ["an extension that must be understood", { crit: ["exp"], exp: 1 }],
    ["an empty list of extensions", { crit: [] }],
    ["a payload that is not encoded", { crit: ["b64"], b64: false }],
    ["a payload that is not encoded, unannounced", { b64: false }],
    ["the type of an access token", { typ: "at+jwt" }],
    ["the type of a logout token", { typ: "logout+jwt" }],
    ["the media type of a logout token", { typ: "application/logout+jwt" }],
    ["a media type that is no token's", { typ: "application/application/jwt" }],
    ["the type of something else", { typ: "JWE" }],
    ["a type that is no text", { typ: ["JWT"] }],
    ["null as type", { typ: null }],
  ])("refuses a header with %s (R68)", async (_, header) => {
    expect(await reasonFor(idp.signToken(good(), header))).toBe("id_token.malformed");
  });

  test("random claims give a verdict, never an error", async () => {
    const names = ["iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "sub", "at_hash"];
    const changes = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const verdict = await verify(idp.signToken(good(changed)), { accessToken: "at" });
        if ("claims" in verdict) expect(verdict.claims).toMatchObject({ iss: idp.issuer, nonce: NONCE });
        else expect(verdict.reason).toMatch(/^id_token\.[a-z_]+$/);
        for (const { found = "" } of verdict.checks) expect(found.length).toBeLessThanOrEqual(220);
      }),
      { numRuns: 300 },
    );
  });
});

test("a token may have 64 KB, as with many groups; a larger one is refused", async () => {
  const large = (length: number) => ({ groups: "g".repeat(length) });
  expect(await withClaims(large(48_000))).toBeUndefined();
  expect(await withClaims(large(50_000))).toBe("id_token.malformed");
});
