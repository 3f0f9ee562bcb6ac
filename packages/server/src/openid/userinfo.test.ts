import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { type HostileIdp, startHostileIdp } from "../../test/support/hostile-idp.ts";
import { newIdpClient, type ReadyClient } from "../../test/support/idp-client.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { type Metadata, toMetadata } from "./discovery.ts";
import { fetchUserinfo } from "./userinfo.ts";

/** The UserInfo endpoint of a provider that answers what it likes. */

let idp: HostileIdp;
let metadata: Metadata;
let storage: Storage;
let client: ReadyClient;
const clock = handClock();

beforeAll(async () => {
  idp = await startHostileIdp();
  metadata = { ...toMetadata({}), issuer: idp.issuer, userinfoEndpoint: `${idp.origin}/userinfo` };
  storage = await openStorage({ clock }, "sqlite::memory:");
});
afterAll(async () => {
  await idp.close();
  await storage.close();
});
beforeEach(() => {
  idp.hooks = {};
  idp.journal.length = 0;
  client = newIdpClient({ idp, storage, clock, callMs: 1500 });
});

const fetched = async (accessToken = "at", of = metadata) =>
  fetchUserinfo(await client(of), accessToken, "subject");

test("gets the access token in the header, and nowhere else (N86)", async () => {
  idp.hooks.userinfo = (claims) => ({ ...claims, email: "ada@shop.example" });
  expect(await fetched("the.access-token")).toEqual({
    claims: { sub: "subject", email: "ada@shop.example" },
  });
  expect(idp.journal).toEqual([
    { method: "GET", path: "/userinfo", authorization: "Bearer the.access-token", body: "" },
  ]);
});

test("claims of another subject are refused (N78)", async () => {
  idp.hooks.userinfo = () => ({ sub: "subjectinvalid", email: "eve@evil.example" });
  expect(await fetched()).toMatchObject({ reason: "userinfo.sub" });
});

test.each<[string, object]>([
  ["absent", { email: "a@b.example" }],
  ["empty", { sub: "" }],
  ["null", { sub: null }],
  ["a list", { sub: ["subject"] }],
  ["in another case", { sub: "Subject" }],
  ["with a space behind", { sub: "subject " }],
])("refuses an answer whose subject is %s (N79)", async (_, claims) => {
  idp.hooks.userinfo = () => claims;
  expect(await fetched()).toMatchObject({ reason: "userinfo.sub" });
});

const json = { "content-type": "application/json" };
const plain = '{"sub":"subject"}';
const broken: [string, string, NonNullable<HostileIdp["hooks"]["answer"]>[string]][] = [
  ["401", "unavailable", (_, r) => void r.writeHead(401, json).end(plain)],
  ["403", "unavailable", (_, r) => void r.writeHead(403, json).end(plain)],
  ["500", "unavailable", (_, r) => void r.writeHead(500, json).end(plain)],
  ["204", "unavailable", (_, r) => void r.writeHead(204).end()],
  ["a redirect", "unavailable", (_, r) => void r.writeHead(307, { location: "/bait" }).end()],
  ["a reset", "unavailable", (_, r) => void r.destroy()],
  ["no answer", "unavailable", () => {}],
  ["a megabyte", "unavailable", (_, r) => void r.writeHead(200, json).end(" ".repeat(1_000_000))],
  [
    "JSON that says it is a JWT",
    "malformed",
    (_, r) => void r.writeHead(200, { "content-type": "application/jwt" }).end(plain),
  ],
  ["HTML", "malformed", (_, r) => void r.writeHead(200, { "content-type": "text/html" }).end(plain)],
  ["no type", "malformed", (_, r) => void r.writeHead(200).end(plain)],
  ["an array", "malformed", (_, r) => void r.writeHead(200, json).end(`[${plain}]`)],
  ["null", "malformed", (_, r) => void r.writeHead(200, json).end("null")],
  ["nothing", "malformed", (_, r) => void r.writeHead(200, json).end()],
  ["half of it", "malformed", (_, r) => void r.writeHead(200, json).end('{"sub":"subject"')],
  ["the subject twice", "json", (_, r) => void r.writeHead(200, json).end('{"sub":"x","sub":"subject"}')],
  [
    "20 levels",
    "json",
    (_, r) => void r.writeHead(200, json).end(`{"x":${"[".repeat(20)}${"]".repeat(20)}}`),
  ],
];

test.each(broken)("%s is userinfo.%s (N79)", async (_, reason, answer) => {
  idp.hooks.answer = { "/userinfo": answer };
  expect(await fetched()).toMatchObject({ reason: `userinfo.${reason}` });
  expect(idp.journal.map(({ path }) => path)).toEqual(["/userinfo"]);
});

test("a refusal for its JSON names the member", async () => {
  idp.hooks.answer = {
    "/userinfo": (_, r) => void r.writeHead(200, json).end('{"sub":"subject","sub":"x"}'),
  };
  const evidence = { expected: "each member once", found: 'a member twice at "sub"' };
  expect(await fetched()).toMatchObject({ reason: "userinfo.json", evidence });
});

test.each(["__proto__", "constructor"])("a claim called %s is a claim like others", async (name) => {
  const claims = `{"${name}":{"email":"eve@evil.example"},"sub":"subject"}`;
  idp.hooks.answer = { "/userinfo": (_, r) => void r.writeHead(200, json).end(claims) };
  const answer = await fetched();
  expect("claims" in answer && [Object.keys(answer.claims), answer.claims.email]).toEqual([
    [name, "sub"],
    undefined,
  ]);
});

describe("is not requested", () => {
  test.each(["a\r\nX-Evil: 1", "a b", "a\0", "é", "\u{1f600}", ""])(
    "with %j as token",
    async (accessToken) => {
      expect(await fetched(accessToken)).toMatchObject({ reason: "userinfo.unavailable" });
      expect(idp.journal).toEqual([]);
    },
  );

  test("if there is no endpoint", async () => {
    expect(await fetched("at", { ...metadata, userinfoEndpoint: null })).toMatchObject({
      reason: "userinfo.unavailable",
    });
  });
});

describe("a signed answer", () => {
  const seconds = () => Math.floor(clock.now() / 1000);
  const JWT = { "content-type": "application/jwt" };
  const answers = (token: () => string, type = JWT) => {
    idp.hooks.answer = { "/userinfo": (_, r) => void r.writeHead(200, type).end(token()) };
  };
  const own = () => ({ sub: "subject", email: "ada@shop.example", iss: idp.issuer, aud: idp.clientId });

  test("is read if the provider has signed it, with or without issuer, audience and expiry", async () => {
    answers(() => idp.signToken(own()), { "content-type": "application/jwt; charset=utf-8" });
    expect(await fetched()).toEqual({ claims: own(), isSigned: true });
    answers(() => idp.signToken({ sub: "subject" }, { typ: "JWT" }));
    expect(await fetched()).toEqual({ claims: { sub: "subject" }, isSigned: true });
    answers(() => idp.signToken({ ...own(), aud: [idp.clientId, "another"], exp: seconds() + 60 }));
    expect(await fetched()).toHaveProperty("isSigned", true);
  });

  test("by a key that was published later is read", async () => {
    idp.rotateKey();
    answers(() => idp.signToken(own()));
    expect(await fetched()).toHaveProperty("isSigned", true);
  });

  test("whose key set cannot be read is userinfo.unavailable, not forged", async () => {
    answers(() => idp.signToken(own()));
    idp.hooks.answer = { ...idp.hooks.answer, "/keys": (_, r) => void r.writeHead(503).end() };
    expect(await fetched()).toMatchObject({ reason: "userinfo.unavailable" });
  });

  test.each<[string, () => string, () => object]>([
    [
      "of another issuer",
      () => idp.signToken({ ...own(), iss: "https://evil.example" }),
      () => ({ expected: `the issuer ${idp.issuer}`, found: "the issuer https://evil.example" }),
    ],
    [
      "for another client",
      () => idp.signToken({ ...own(), aud: "another" }),
      () => ({ expected: "for the client the-store", found: "for another" }),
    ],
    [
      "that is over",
      () => idp.signToken({ ...own(), exp: seconds() - 120 }),
      () => ({ expected: "not expired", found: expect.stringMatching(/^the end 20/) }),
    ],
    [
      "by an unknown key",
      () => idp.signToken(own(), { kid: "unknown" }),
      () => ({ expected: "a key of the provider", found: "unknown" }),
    ],
    [
      "that is symmetric",
      () => idp.signToken(own(), { alg: "HS256" }),
      () => ({ expected: "RS256, PS256, ES256, EdDSA, Ed25519", found: "HS256" }),
    ],
    [
      "whose text was changed",
      () => tampered(idp.signToken(own())),
      () => ({ expected: expect.stringMatching(/^a signature by the key key-/), found: "another signature" }),
    ],
  ])("%s is refused with expected and found values", async (_, token, evidence) => {
    answers(token);
    expect(await fetched()).toMatchObject({ reason: "userinfo.signature", evidence: evidence() });
  });

  const forged: [string, string, () => string][] = [
    ["of another issuer", "signature", () => idp.signToken({ ...own(), iss: "https://evil.example" })],
    ["for another client", "signature", () => idp.signToken({ ...own(), aud: "another" })],
    ["that is over", "signature", () => idp.signToken({ ...own(), exp: seconds() - 120 })],
    ["whose end is a text", "signature", () => idp.signToken({ ...own(), exp: "tomorrow" })],
    ["by an unknown key", "signature", () => idp.signToken(own(), { kid: "unknown" })],
    [
      "without a signature",
      "signature",
      () => `${idp.signToken(own(), { alg: "none" }).split(".").slice(0, 2).join(".")}.`,
    ],
    ["that is symmetric", "signature", () => idp.signToken(own(), { alg: "HS256" })],
    ["whose text was changed", "signature", () => tampered(idp.signToken(own()))],
    ["that is another kind of token", "malformed", () => idp.signToken(own(), { typ: "at+jwt" })],
    ["that is encrypted", "encrypted", () => "a.b.c.d.e"],
    ["about another subject", "sub", () => idp.signToken({ ...own(), sub: "another" })],
  ];

  test.each(forged)("%s is userinfo.%s", async (_, reason, token) => {
    answers(token);
    expect(await fetched()).toMatchObject({
      reason: `userinfo.${reason}`,
      answer: { call: "userinfo", status: 200 },
    });
  });

  /** Says something else under the same signature. */
  function tampered(token: string): string {
    const [header, , signature] = token.split(".");
    const payload = Buffer.from(JSON.stringify({ ...own(), email: "eve@evil.example" })).toString(
      "base64url",
    );
    return `${header}.${payload}.${signature}`;
  }
});
