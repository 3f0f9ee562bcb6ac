import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { type HostileIdp, startHostileIdp } from "../../test/support/hostile-idp.ts";
import { type Calls, createCalls } from "./calls.ts";
import { type Metadata, toMetadata } from "./discovery.ts";
import { createEgress } from "./egress.ts";
import type { Profile } from "./profile.ts";
import { fetchUserinfo } from "./userinfo.ts";

/** The UserInfo endpoint of a provider that answers what it likes. */

let idp: HostileIdp;
let calls: Calls;
let metadata: Metadata;
const profile = { id: "profile" } as Profile;

beforeAll(async () => {
  idp = await startHostileIdp();
  metadata = { ...toMetadata({}), userinfoEndpoint: `${idp.origin}/userinfo` };
});
afterAll(() => idp.close());
beforeEach(() => {
  idp.hooks = {};
  idp.journal.length = 0;
  calls = createCalls({
    egress: createEgress({ allowedOrigins: [idp.origin], callMs: 1500 }),
    clock: handClock(),
  });
});

const fetched = (accessToken = "at", of = metadata) =>
  fetchUserinfo({ calls }, profile, of, accessToken, "subject");

test("is asked with the access token in the header, and nowhere else (N86)", async () => {
  idp.hooks.userinfo = (claims) => ({ ...claims, email: "ada@shop.example" });
  expect(await fetched("the.access-token")).toEqual({
    claims: { sub: "subject", email: "ada@shop.example" },
  });
  expect(idp.journal).toEqual([
    { method: "GET", path: "/userinfo", authorization: "Bearer the.access-token", body: "" },
  ]);
});

test("about another subject it says nothing that we use (N78)", async () => {
  idp.hooks.userinfo = () => ({ sub: "subjectinvalid", email: "eve@evil.example" });
  expect(await fetched()).toEqual({ reason: "userinfo.sub" });
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
  expect(await fetched()).toEqual({ reason: "userinfo.sub" });
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
    "a signed answer",
    "malformed",
    (_, r) =>
      void r.writeHead(200, { "content-type": "application/jwt" }).end(idp.signToken({ sub: "subject" })),
  ],
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
  [
    "the subject twice",
    "malformed",
    (_, r) => void r.writeHead(200, json).end('{"sub":"x","sub":"subject"}'),
  ],
];

test.each(broken)("%s is userinfo.%s (N79)", async (_, reason, answer) => {
  idp.hooks.answer = { "/userinfo": answer };
  expect(await fetched()).toEqual({ reason: `userinfo.${reason}` });
  expect(idp.journal.map(({ path }) => path)).toEqual(["/userinfo"]);
});

describe("is not asked", () => {
  test.each(["a\r\nX-Evil: 1", "a b", "a\0", "é", "\u{1f600}", ""])(
    "with %j as token",
    async (accessToken) => {
      expect(await fetched(accessToken)).toEqual({ reason: "userinfo.unavailable" });
      expect(idp.journal).toEqual([]);
    },
  );

  test("where there is none", async () => {
    expect(await fetched("at", { ...metadata, userinfoEndpoint: null })).toEqual({
      reason: "userinfo.unavailable",
    });
  });
});
