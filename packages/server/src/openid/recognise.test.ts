import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { capturedOf, capturedProviders } from "../../test/support/captured-idp.ts";
import { knownProviders } from "../contract/known-providers.ts";
import { ENDPOINTS } from "./discovery.ts";
import { attentionTo, inItsWords, recognise } from "./recognise.ts";
import { type Check, judge } from "./requirements.ts";

const named = (document: object) => recognise(document as Record<string, unknown>)?.key ?? null;

test.each(knownProviders.filter(({ key }) => capturedProviders().includes(key)))(
  "the recipe of $name has a back-channel logout where its seen version announces one, and no other",
  ({ key, console }) => {
    const announced = capturedOf(key, "discovery").some(
      ({ body }) => body.backchannel_logout_supported === true,
    );
    expect(console.logout !== undefined).toBe(announced);
  },
);

describe("a provider is recognised by its document", () => {
  const known = new Set(["keycloak", "dex", "hydra", "lemonldap"]);

  test.each(capturedProviders())("in the form that was recorded: %s", (provider) => {
    for (const { body } of capturedOf(provider, "discovery"))
      expect(named(body)).toBe(known.has(provider) ? provider : null);
  });

  test.each<[string, object]>([
    ["entra", { issuer: "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0" }],
    ["okta", { issuer: "https://shop.okta.com" }],
    ["okta", { issuer: "https://shop.okta.com/oauth2/default" }],
    ["auth0", { issuer: "https://shop.eu.auth0.com/" }],
    [
      "auth0",
      {
        issuer: "https://login.shop.example/",
        mfa_challenge_endpoint: "https://login.shop.example/mfa/challenge",
      },
    ],
    ["google", { issuer: "https://accounts.google.com" }],
    ["cognito", { issuer: "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc" }],
    ["ping", { issuer: "https://auth.pingone.eu/0a1b/as" }],
    ["ping", { authorization_endpoint: "https://sso.example/as/authorization.oauth2" }],
    ["authentik", { issuer: "https://sso.example/application/o/shop/" }],
    [
      "zitadel",
      {
        authorization_endpoint: "https://x.zitadel.cloud/oauth/v2/authorize",
        introspection_endpoint: "https://x.zitadel.cloud/oauth/v2/introspect",
      },
    ],
  ])("in the form of its documentation: %s", (key, document) => {
    expect(named(document)).toBe(key);
  });

  test.each([
    {},
    { issuer: "https://evil.example/?x=https://accounts.google.com" },
    { issuer: "https://okta.com.evil.example" },
    { issuer: 7, authorization_endpoint: ["/protocol/openid-connect/auth"] },
  ])("and not by a similar text: %j", (document) => {
    expect(named(document)).toBeNull();
  });
});

describe("its remedies", () => {
  const check = (id: Check["id"], status: Check["status"], remedy: string | null): Check => ({
    id,
    requirement: "r",
    status,
    evidence: "e",
    remedy,
  });
  const keycloak = knownProviders.find(({ key }) => key === "keycloak") ?? null;

  test("name the place in its console, once, and only if there is something to remedy", () => {
    const checks = [
      check("R3", "not_met", "Allow it."),
      check("R4", "met", null),
      check("R9", "not_met", "x"),
    ];
    const once = inItsWords(keycloak, checks);
    expect(once[0]?.remedy).toMatch(/^Allow it\. In Keycloak: Clients → .*Standard flow on/);
    expect(once.slice(1)).toEqual(checks.slice(1));
    expect(inItsWords(keycloak, once)).toEqual(once);
    expect(inItsWords(null, checks)).toEqual(checks);
  });

  test("name the place of the algorithm only if the algorithm is at fault, and not the address (R1)", () => {
    const document = {
      ...capturedOf("keycloak", "discovery")[0]?.body,
      issuer: "https://sso.example/realms/shop",
    };
    const remedyFor = (changes: object) => {
      const discoveryUrl = "https://sso.example/realms/shop";
      const examined = { discoveryUrl, document: { ...document, ...changes }, keys: [], allowedOrigins: [] };
      return inItsWords(keycloak, inItsWords(keycloak, judge(examined)))[0]?.remedy;
    };
    expect(remedyFor({ issuer: "https://sso.internal/realms/shop" })).toMatch(/agree exactly\.$/);
    const endpoints = Object.fromEntries(ENDPOINTS.map((name) => [name, "https://sso.example/x"]));
    expect(remedyFor({ ...endpoints, id_token_signing_alg_values_supported: ["HS256"] })).toMatch(
      /^Sign with RS256, PS256, ES256 or EdDSA\. In Keycloak: [^.]*ID token signature algorithm\.$/,
    );
  });

  test("notes are shown for requirements that are not met yet", () => {
    expect(attentionTo(keycloak, [check("R4", "unknown", null), check("R3", "met", null)])).toEqual([
      expect.stringMatching(/^Keycloak, R4: /),
    ]);
    expect(attentionTo(null, [check("R4", "unknown", null)])).toEqual([]);
  });
});

test("each has a recipe, which states whether it was run or read", () => {
  expect(knownProviders).toHaveLength(12);
  for (const { key, seen, attention, steps } of knownProviders) {
    const page = readFileSync(
      new URL(`../../../../docs/guides/providers/${key}.md`, import.meta.url),
      "utf8",
    );
    expect(page).toContain(
      seen === null ? "*from the provider's documentation*" : "*answers: recorded from ",
    );
    expect(steps.length).toBeGreaterThan(1);
    for (const id of Object.keys(attention)) expect(id).toMatch(/^R[1-9]$/);
  }
});
