import { describe, expect, test } from "vitest";
import type { Metadata } from "../openid/discovery.ts";
import { columnsFor, hasDrifted } from "./drift.ts";

const known: Metadata = {
  issuer: "https://idp.example",
  authorizationEndpoint: "https://login.example/authorize",
  tokenEndpoint: "https://token.example/token",
  jwksUri: "https://keys.example/keys",
  userinfoEndpoint: "https://api.example/userinfo",
  signingAlgorithms: ["ES256"],
  sendsIss: true,
  supportsS256: true,
};
const without: Metadata = { ...known, userinfoEndpoint: null };

describe("drift is", () => {
  test.each<[string, Partial<Metadata>]>([
    ["another issuer", { issuer: "https://idp.example/" }],
    ["a token endpoint on the userinfo endpoint's host", { tokenEndpoint: "https://api.example/token" }],
    ["a token endpoint on the host of the keys", { tokenEndpoint: "https://keys.example/token" }],
    ["keys on the token endpoint's host", { jwksUri: "https://token.example/keys" }],
    ["a userinfo endpoint on the host of the keys", { userinfoEndpoint: "https://keys.example/userinfo" }],
    ["an authorization endpoint on the issuer's host", { authorizationEndpoint: "https://idp.example/a" }],
    ["another port", { tokenEndpoint: "https://token.example:8443/token" }],
    ["a userinfo endpoint that is gone from a host of its own", { userinfoEndpoint: null }],
    [
      "two endpoints that have changed places",
      { tokenEndpoint: "https://api.example/token", userinfoEndpoint: "https://token.example/userinfo" },
    ],
  ])("%s", (_, change) => {
    expect(hasDrifted(known, { ...known, ...change })).toBe(true);
    expect(hasDrifted({ ...known, ...change }, known)).toBe(true);
  });

  test("a new userinfo endpoint on any host but the token endpoint's", () => {
    for (const host of ["api", "keys", "login", "idp"])
      expect(hasDrifted(without, { ...without, userinfoEndpoint: `https://${host}.example/u` })).toBe(true);
  });
});

test("a token endpoint on the host of another approved endpoint is drift: that host must not get the client secret", () => {
  const at = (host: string) => `https://${host}.example/x`;
  const authorizationEndpoint = at("idp");
  const two = { ...known, authorizationEndpoint, jwksUri: at("idp"), tokenEndpoint: at("idp") };
  expect(hasDrifted(two, { ...two, tokenEndpoint: at("api") })).toBe(true);
});

describe("no drift is", () => {
  test.each<[string, Partial<Metadata>]>([
    ["another path", { tokenEndpoint: "https://token.example/v2/token" }],
    ["other algorithms", { signingAlgorithms: ["RS256"] }],
    ["another way to answer", { sendsIss: false, supportsS256: false }],
  ])("%s", (_, change) => {
    expect(hasDrifted(known, { ...known, ...change })).toBe(false);
  });

  test("a userinfo endpoint that comes or goes on the token endpoint's host", () => {
    const beside = { ...known, userinfoEndpoint: "https://token.example/userinfo" };
    expect([hasDrifted(without, beside), hasDrifted(beside, without)]).toEqual([false, false]);
  });
});

test("a document waits for approval since it was first found; another document waits from now on", () => {
  const found = { ...known, issuer: "https://other.example" };
  const waiting = { metadata: known, pending: { metadata: found, since: 1 }, issuerFound: null };
  expect(columnsFor(waiting, { ...found }, 2)).toEqual({});
  const another = { ...found, issuer: "https://another.example" };
  expect(columnsFor(waiting, another, 2)).toMatchObject({
    pending_metadata: JSON.stringify(another),
    pending_since: 2,
  });
  expect(columnsFor({ ...waiting, pending: null }, found, 1)).toMatchObject({ pending_since: 1 });
});
