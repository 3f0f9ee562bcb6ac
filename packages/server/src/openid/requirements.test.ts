import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readKeys } from "./keys.ts";
import { CHECK_ADDRESS, judge, judgeUnread, type RequirementId, requirements } from "./requirements.ts";

const DISCOVERY_URL = "https://idp.example/.well-known/openid-configuration";
const IDS = ["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9"];
const sound = {
  issuer: "https://idp.example",
  authorization_endpoint: "https://idp.example/authorize",
  token_endpoint: "https://idp.example/token",
  jwks_uri: "https://idp.example/jwks",
  userinfo_endpoint: "https://idp.example/userinfo",
  response_types_supported: ["code", "id_token"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256", "ES256"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
  scopes_supported: ["openid", "email"],
  claims_supported: ["sub", "email"],
};
const jwk = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
const keysOf = (...keys: unknown[]) => readKeys({ keys });

/** Judges the sound document with some members changed; `undefined` takes one away. */
function judged(change: Record<string, unknown>, keys = keysOf(jwk), allowedOrigins: string[] = []) {
  const document = Object.fromEntries(
    Object.entries({ ...sound, ...change }).filter(([, value]) => value !== undefined),
  );
  return judge({ discoveryUrl: DISCOVERY_URL, document, keys, allowedOrigins });
}
const statuses = (checks: ReturnType<typeof judge>) =>
  Object.fromEntries(checks.map(({ id, status }) => [id, status]));
const MET = {
  R1: "met",
  R2: "met",
  R3: "met",
  R4: "met",
  R5: "met",
  R6: "unknown",
  R7: "unknown",
  R8: "unknown",
  R9: "unknown",
};

test("a sound document meets R1 to R5; the other requirements need a token", () => {
  const checks = judged({});
  expect(checks.map(({ id }) => id)).toEqual(IDS);
  expect(statuses(checks)).toEqual(MET);
  expect(checks[0]?.evidence).toBe("The document is complete and agrees with its address. Signing keys: 1.");
  for (const check of checks) {
    expect(check.requirement).toBe(requirements[check.id]);
    expect(check.evidence).not.toBe("");
    expect(check.remedy).toBeNull();
  }
});

const named = (name: string) => expect.stringContaining(name);

describe("a missed requirement has evidence and a remedy, and the others are unchanged", () => {
  test.each<[RequirementId, string, Record<string, unknown>, string]>([
    // R1: a complete document that agrees with its address.
    ["R1", "no issuer", { issuer: undefined }, "issuer"],
    ["R1", "an empty issuer", { issuer: "" }, "issuer"],
    ["R1", "a list as issuer", { issuer: ["https://idp.example"] }, "issuer"],
    ["R1", "another issuer", { issuer: "https://evil.example" }, "issuer"],
    ["R1", "an issuer in another case", { issuer: "https://IDP.example" }, "issuer"],
    ["R1", "an issuer with a port", { issuer: "https://idp.example:443" }, "issuer"],
    ["R1", "no authorization endpoint", { authorization_endpoint: undefined }, "authorization_endpoint"],
    ["R1", "no token endpoint", { token_endpoint: undefined }, "token_endpoint"],
    ["R1", "a list as token endpoint", { token_endpoint: ["https://idp.example/token"] }, "token_endpoint"],
    ["R1", "no jwks_uri", { jwks_uri: undefined }, "jwks_uri"],
    ["R1", "no subject types", { subject_types_supported: undefined }, "subject_types_supported"],
    ["R1", "an empty list of subject types", { subject_types_supported: [] }, "subject_types_supported"],
    [
      "R1",
      "no signing algorithms",
      { id_token_signing_alg_values_supported: undefined },
      "id_token_signing_alg_values_supported",
    ],
    [
      "R1",
      "no key for the one algorithm that is listed",
      { id_token_signing_alg_values_supported: ["RS256"] },
      "None of its keys fits",
    ],
    ["R1", "no response types", { response_types_supported: undefined }, "response_types_supported"],
    [
      "R1",
      "an authorization endpoint in http",
      { authorization_endpoint: "http://idp.example/a" },
      "authorization_endpoint",
    ],
    [
      "R1",
      "a script as authorization endpoint",
      { authorization_endpoint: "javascript:alert(1)" },
      "authorization_endpoint",
    ],
    [
      "R1",
      "a token endpoint on another port",
      { token_endpoint: "https://idp.example:8443/token" },
      "token_endpoint",
    ],
    [
      "R1",
      "a token endpoint with a user",
      { token_endpoint: "https://a:b@idp.example/token" },
      "token_endpoint",
    ],
    ["R1", "keys at an address", { jwks_uri: "https://169.254.169.254/keys" }, "jwks_uri"],
    ["R1", "keys at this machine", { jwks_uri: "https://localhost/keys" }, "jwks_uri"],
    ["R1", "keys at a relative address", { jwks_uri: "/keys" }, "jwks_uri"],
    [
      "R1",
      "UserInfo at a mapped address",
      { userinfo_endpoint: "https://[::ffff:7f00:1]/u" },
      "userinfo_endpoint",
    ],
    ["R1", "a number as UserInfo endpoint", { userinfo_endpoint: 1 }, "userinfo_endpoint"],
    ["R1", "an empty UserInfo endpoint", { userinfo_endpoint: "" }, "userinfo_endpoint"],
    [
      "R1",
      "no algorithm that Latchkey accepts",
      { id_token_signing_alg_values_supported: ["none", "HS256"] },
      "algorithm",
    ],
    // R2: the client authentication method.
    [
      "R2",
      "only other methods",
      { token_endpoint_auth_methods_supported: ["client_secret_post"] },
      "client_secret_basic",
    ],
    ["R2", "no method", { token_endpoint_auth_methods_supported: [] }, "client_secret_basic"],
    [
      "R2",
      "a text as methods",
      { token_endpoint_auth_methods_supported: "client_secret_basic" },
      "client_secret_basic",
    ],
    ["R2", "null as methods", { token_endpoint_auth_methods_supported: null }, "client_secret_basic"],
    // R3: the code flow.
    ["R3", "no response type code", { response_types_supported: ["id_token"] }, "response_types_supported"],
    [
      "R3",
      "code only together with others",
      { response_types_supported: ["code id_token"] },
      "response_types_supported",
    ],
    ["R3", "no grant authorization_code", { grant_types_supported: ["implicit"] }, "grant_types_supported"],
    [
      "R3",
      "pushed requests demanded",
      { require_pushed_authorization_requests: true },
      "require_pushed_authorization_requests",
    ],
    [
      "R3",
      "signed requests demanded",
      { require_signed_request_object: true },
      "require_signed_request_object",
    ],
  ])("%s: %s", (id, _, change, evidence) => {
    const checks = judged(change);
    expect(statuses(checks)).toEqual({ ...MET, [id]: "not_met" });
    const check = checks.find((candidate) => candidate.id === id);
    expect(check).toMatchObject({ evidence: named(evidence), remedy: expect.stringMatching(/./) });
  });

  test.each<[string, ReturnType<typeof keysOf>, string]>([
    ["keys that could not be read", undefined, "could not be read"],
    ["more keys than we read", keysOf(...Array(101).fill(jwk)), "could not be read"],
    ["no key", keysOf(), "no usable signing key"],
    ["only keys for encryption", keysOf({ ...jwk, use: "enc" }), "no usable signing key"],
    ["only symmetric keys", keysOf({ kty: "oct", k: "AAAA" }), "no usable signing key"],
  ])("R1: %s", (_, keys, evidence) => {
    const checks = judge({ discoveryUrl: DISCOVERY_URL, document: sound, keys, allowedOrigins: [] });
    expect(statuses(checks)).toEqual({ ...MET, R1: "not_met" });
    expect(checks[0]).toMatchObject({ evidence: named(evidence), remedy: expect.stringMatching(/./) });
  });

  test.each([
    ["a query", "https://idp.example/?tenant=1"],
    ["an empty query", "https://idp.example/a?"],
    ["a fragment", "https://idp.example/#a"],
  ])("R1: an issuer with %s, although it agrees with its address (R120)", (_, issuer) => {
    const document = { ...sound, issuer };
    const discoveryUrl = `${issuer}/.well-known/openid-configuration`;
    const checks = judge({ discoveryUrl, document, keys: keysOf(jwk), allowedOrigins: [] });
    expect(statuses(checks)).toEqual({ ...MET, R1: "not_met" });
  });
});

test("several requirements can be missed, each with its own evidence", () => {
  const checks = judged({
    issuer: "https://evil.example",
    token_endpoint_auth_methods_supported: ["none"],
    grant_types_supported: [],
    claims_supported: [],
  });
  expect(statuses(checks)).toEqual({ ...MET, R1: "not_met", R2: "not_met", R3: "not_met", R4: "unknown" });
});

test("all missing members are named together", () => {
  const [first] = judged({
    token_endpoint: undefined,
    jwks_uri: undefined,
    subject_types_supported: undefined,
  });
  for (const member of ["token_endpoint", "jwks_uri", "subject_types_supported"]) {
    expect(first?.evidence).toContain(member);
  }
});

describe("a requirement is met", () => {
  test.each<[string, Record<string, unknown>]>([
    ["the issuer has a slash at its end", { issuer: "https://idp.example/" }],
    ["there is no UserInfo endpoint", { userinfo_endpoint: undefined }],
    [
      "methods are not listed, which means the default (R126)",
      { token_endpoint_auth_methods_supported: undefined },
    ],
    ["grants are not listed, which means the default (R126)", { grant_types_supported: undefined }],
    ["pushed requests are possible", { require_pushed_authorization_requests: false }],
    [
      "endpoints are on other hosts",
      { token_endpoint: "https://token.example/", jwks_uri: "https://keys.example/" },
    ],
    [
      "there are weak algorithms beside a good one",
      { id_token_signing_alg_values_supported: ["none", "ES256"] },
    ],
    ["there are members that we do not know", { mtls_endpoint_aliases: {}, a: null }],
  ])("when %s", (_, change) => {
    expect(statuses(judged(change))).toEqual(MET);
  });

  test("by internal endpoints only if the operator allows them", () => {
    const inside = { token_endpoint: "http://127.0.0.1:9000/token" };
    expect(statuses(judged(inside, keysOf(jwk), ["http://127.0.0.1:9000"])).R1).toBe("met");
    expect(statuses(judged(inside, keysOf(jwk), ["http://127.0.0.1:9001"])).R1).toBe("not_met");
  });
});

test.each<[string, Record<string, unknown>]>([
  ["scopes", { scopes_supported: undefined }],
  ["claims", { claims_supported: undefined }],
  ["neither", { scopes_supported: undefined, claims_supported: undefined }],
  ["e-mail among scopes (R129)", { scopes_supported: ["openid"] }],
  ["e-mail among claims", { claims_supported: ["sub"] }],
  ["e-mail in either", { scopes_supported: ["openid"], claims_supported: ["sub"] }],
  ["any", { scopes_supported: [], claims_supported: [] }],
])("R4 is not known when %s are not listed", (_, change) => {
  expect(statuses(judged(change))).toEqual({ ...MET, R4: "unknown" });
});

test.each<[string, Record<string, unknown>, string]>([
  ["R4", { scopes_supported: [] }, "scopes_supported does not list email, which proves nothing"],
  [
    "R4",
    { scopes_supported: [], claims_supported: [] },
    "scopes_supported and claims_supported do not list email, which proves nothing",
  ],
  ["R1", { jwks_uri: undefined }, "The document lacks jwks_uri. Publish this member."],
  [
    "R1",
    { jwks_uri: undefined, token_endpoint: undefined },
    "The document lacks token_endpoint, jwks_uri. Publish these members.",
  ],
  ["R1", { jwks_uri: "http://a.example/" }, "This address is not allowed: jwks_uri."],
  [
    "R1",
    { jwks_uri: "http://a.example/", token_endpoint: "http://a.example/" },
    "These addresses are not allowed: token_endpoint, jwks_uri.",
  ],
  [
    "R3",
    { require_signed_request_object: true },
    "It demands require_signed_request_object. Do not demand it for this client.",
  ],
  [
    "R3",
    { require_signed_request_object: true, require_pushed_authorization_requests: true },
    "It demands require_pushed_authorization_requests and require_signed_request_object. Do not demand them for this client.",
  ],
])("%s of %j has verb and noun in the right number", (requirement, change, text) => {
  const { evidence, remedy } = judged(change).find(({ id }) => id === requirement) ?? {};
  expect(`${evidence} ${remedy}`).toContain(text);
});

test("evidence shows the issuer that was found, on one line and short", () => {
  const [first] = judged({ issuer: `https://other.example/\n\u202e${"x".repeat(5000)}` });
  expect(first?.evidence).toContain("https://other.example/\ufffd\ufffdxxx");
  expect(first?.evidence).toContain(DISCOVERY_URL);
  expect(first?.evidence.length).toBeLessThan(450);
});

test("evidence does not repeat other members of the document", () => {
  const loud = "<script>upstream</script>";
  const members = Object.keys(sound).filter((member) => member !== "issuer");
  const change = Object.fromEntries(members.map((member) => [member, loud]));
  const lists = {
    ...change,
    issuer: sound.issuer,
    scopes_supported: [loud],
    response_types_supported: [loud],
  };
  for (const document of [change, lists]) {
    expect(JSON.stringify(judged(document))).not.toContain("upstream");
  }
});

test("an unreadable document leaves all other checks unknown", () => {
  const checks = judgeUnread("It was not there.", CHECK_ADDRESS);
  expect(statuses(checks)).toEqual({
    ...Object.fromEntries(IDS.map((id) => [id, "unknown"])),
    R5: "not_met",
  });
  expect(checks.map(({ id }) => id)).toEqual(IDS);
  expect(checks[4]).toMatchObject({
    requirement: requirements.R5,
    evidence: "It was not there.",
    remedy: named("/.well-known/openid-configuration"),
  });
});
