import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { limits } from "../contract/limits.ts";
import { createEgress } from "../egress/egress.ts";
import {
  type EgressAnswer,
  type EgressReason,
  type EgressRequest,
  egressFault,
} from "../egress/egress-message.ts";
import type { DocumentReason } from "./discovery.ts";
import { examine } from "./doctor.ts";
import { explainDocumentFailure } from "./document-failure.ts";

const ISSUER = "https://idp.example";
const DISCOVERY_URL = `${ISSUER}/.well-known/openid-configuration`;
const sound = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/jwks`,
  userinfo_endpoint: `${ISSUER}/userinfo`,
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256", "ES256"],
  scopes_supported: ["openid", "email"],
  claims_supported: ["sub", "email"],
  code_challenge_methods_supported: ["S256"],
};
const jwk = {
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }),
  kid: "one",
};

type Given = {
  document?: unknown;
  keys?: unknown;
  date?: string;
  answers?: Record<string, Partial<EgressAnswer>>;
};

/** Examines a provider that publishes these documents. */
async function examined({ document = sound, keys = { keys: [jwk] }, date, answers = {} }: Given = {}) {
  const asked: EgressRequest[] = [];
  const published: Record<string, unknown> = { [`${ISSUER}/jwks`]: keys, "https://keys.example/jwks": keys };
  const send = async (request: EgressRequest): Promise<EgressAnswer> => {
    asked.push(request);
    const body = request.url.endsWith("/openid-configuration") ? document : published[request.url];
    return {
      status: body === undefined ? 404 : 200,
      headers: { "content-type": "application/json", ...(date && { date }) },
      body: Buffer.from(JSON.stringify(body ?? {})),
      elapsedMs: 12.4,
      ...answers[request.url],
    };
  };
  const report = await examine({ send, clock: handClock(), allowedOrigins: [] }, DISCOVERY_URL);
  const statusOf = Object.fromEntries(report.checks.map(({ id, status }) => [id, status]));
  return { report, asked, statusOf };
}

describe("a sound provider", () => {
  test("the report has every field", async () => {
    const { report, statusOf } = await examined();
    expect(report).toMatchObject({
      discoveryUrl: DISCOVERY_URL,
      issuer: ISSUER,
      hosts: ["idp.example"],
      warnings: [],
      answerMs: 12,
      clockOffsetSeconds: null,
      unreachable: null,
      metadata: { issuer: ISSUER, tokenEndpoint: `${ISSUER}/token`, signingAlgorithms: ["RS256", "ES256"] },
    });
    expect(report.keys.map(({ kid }) => kid)).toEqual(["one"]);
    expect(statusOf).toMatchObject({ R1: "met", R2: "met", R3: "met", R4: "met", R5: "met", R6: "unknown" });
  });

  test("gets two requests, within limits and without credentials", async () => {
    const { asked } = await examined();
    expect(asked).toEqual([
      { kind: "discovery", url: DISCOVERY_URL, maxBytes: limits.discoveryBytes },
      { kind: "keys", url: `${ISSUER}/jwks`, maxBytes: limits.keysBytes },
    ]);
  });
});

describe("a provider that misses a requirement", () => {
  test.each<[string, string, Given]>([
    ["R1", "another issuer", { document: { ...sound, issuer: "https://evil.example" } }],
    ["R1", "no jwks_uri", { document: { ...sound, jwks_uri: undefined } }],
    [
      "R1",
      "an endpoint that may not be asked",
      { document: { ...sound, token_endpoint: "http://127.0.0.1/" } },
    ],
    ["R1", "no keys at their address", { document: { ...sound, jwks_uri: "https://gone.example/" } }],
    ["R1", "no key set at the address of keys", { keys: { a: 1 } }],
    ["R1", "no key", { keys: { keys: [] } }],
    ["R1", "only keys for encryption", { keys: { keys: [{ ...jwk, use: "enc" }] } }],
    ["R1", "more keys than we read", { keys: { keys: Array(limits.keys + 1).fill(jwk) } }],
    ["R1", "keys behind a redirect", { answers: { [`${ISSUER}/jwks`]: { status: 302 } } }],
    [
      "R2",
      "only client_secret_post",
      { document: { ...sound, token_endpoint_auth_methods_supported: ["client_secret_post"] } },
    ],
    [
      "R3",
      "pushed requests demanded",
      { document: { ...sound, require_pushed_authorization_requests: true } },
    ],
  ])("%s is reported, without metadata: %s", async (id, _, given) => {
    const { report, statusOf } = await examined(given);
    const missed = Object.keys(statusOf).filter((candidate) => statusOf[candidate] === "not_met");
    expect(missed).toEqual([id]);
    expect(report).toMatchObject({ metadata: null, hosts: [], unreachable: null, answerMs: 12 });
  });

  test("names an internal endpoint, which gets no request", async () => {
    const connections: unknown[] = [];
    const egress = createEgress({
      allowedOrigins: [],
      resolve: async () => ["127.0.0.1"],
      connect: (to) => {
        connections.push(to);
        throw new Error("the test allows no connection");
      },
    });
    const document = { ...sound, jwks_uri: "http://169.254.169.254/latest/meta-data/" };
    const answer = { status: 200, headers: { "content-type": "application/json" }, elapsedMs: 1 };
    const send = async (request: EgressRequest) =>
      request.url === DISCOVERY_URL
        ? { ...answer, body: Buffer.from(JSON.stringify(document)) }
        : await egress.send(request);
    const report = await examine({ send, clock: handClock(), allowedOrigins: [] }, DISCOVERY_URL);
    expect(report.checks[0]).toMatchObject({ id: "R1", status: "not_met" });
    expect(report.checks[0]?.evidence).toContain("jwks_uri");
    expect(connections).toEqual([]);
  });
});

describe("a warning, but no missed requirement, is reported", () => {
  const warned = async (given: Given) => {
    const { report } = await examined(given);
    expect(report.metadata).not.toBeNull();
    return report.warnings;
  };

  test("for endpoints on other hosts than the issuer's, with their names", async () => {
    const document = {
      ...sound,
      token_endpoint: "https://token.example/",
      jwks_uri: "https://keys.example/jwks",
    };
    const warnings = await warned({ document });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toBe(
      "Some endpoints are on other hosts than the issuer: token.example, keys.example.",
    );
    expect(await warned({ document: { ...sound, jwks_uri: "https://keys.example/jwks" } })).toEqual([
      "Some endpoints are on another host than the issuer: keys.example.",
    ]);
    expect((await examined({ document })).report.hosts).toEqual([
      "idp.example",
      "token.example",
      "keys.example",
    ]);
  });

  test.each([[["plain"]], [[]], ["S256"]])("for PKCE without S256: %j", async (methods) => {
    const warnings = await warned({ document: { ...sound, code_challenge_methods_supported: methods } });
    expect(warnings).toEqual([expect.stringContaining("S256")]);
  });

  test("not for PKCE that is not mentioned", async () => {
    expect(await warned({ document: { ...sound, code_challenge_methods_supported: undefined } })).toEqual([]);
  });

  const START_MS = handClock().now();
  test.each([61, -61, 3600, -86_400])("for a clock that is %d seconds off", async (seconds) => {
    const date = new Date(START_MS + seconds * 1000).toUTCString();
    expect(await warned({ date })).toEqual([expect.stringContaining("clock")]);
    expect((await examined({ date })).report.clockOffsetSeconds).toBe(seconds);
  });

  test.each([0, 1, 60, -60])("not for a clock that is %d seconds off", async (seconds) => {
    const date = new Date(START_MS + seconds * 1000).toUTCString();
    expect(await warned({ date })).toEqual([]);
    expect((await examined({ date })).report.clockOffsetSeconds).toBe(seconds);
  });

  test("not for a date that cannot be read", async () => {
    expect(await warned({ date: "tomorrow" })).toEqual([]);
  });
});

describe("a provider that cannot be read", () => {
  const REASONS: DocumentReason[] = [
    "resting",
    "address_not_allowed",
    "host_unknown",
    "host_not_public",
    "connect_failed",
    "tls_name",
    "tls_unknown_authority",
    "tls_expired",
    "tls_failed",
    "too_slow",
    "too_large",
    "answer_broken",
    "answer_encoded",
    "redirected",
    "status_not_200",
    "not_json",
    "duplicate_member",
    "too_deep",
    "lone_surrogate",
  ];

  test.each<[DocumentReason, string]>([
    ["host_not_public", "LATCHKEY_EGRESS_ALLOW=https://idp.example"],
    ["address_not_allowed", "LATCHKEY_EGRESS_ALLOW=https://idp.example"],
    ["tls_unknown_authority", "NODE_EXTRA_CA_CERTS="],
    ["tls_name", "another host name"],
  ])("because of %s has what the operator can do: %s", (reason, remedy) => {
    expect(explainDocumentFailure({ reason, status: null }, DISCOVERY_URL)).toContain(remedy);
  });

  test.each<[EgressReason, RegExp | null]>([
    ["address_not_allowed", null],
    ["host_not_public", null],
    ["tls_unknown_authority", null],
    ["host_unknown", /^Check the address\./],
    ["too_slow", /^Check the address\./],
  ])(
    "because of %s: the remedy doubts the address only if there is no other remedy",
    async (reason, remedy) => {
      const send = () => Promise.reject(egressFault(reason));
      const { checks } = await examine({ send, clock: handClock(), allowedOrigins: [] }, DISCOVERY_URL);
      expect(checks[4]?.remedy ?? null).toEqual(remedy && expect.stringMatching(remedy));
    },
  );

  const REFUSED_JSON: Partial<Record<DocumentReason, string>> = {
    duplicate_member: '{"issuer":"a","issuer":"b"}',
    too_deep: `{"a":${"[".repeat(20)}${"]".repeat(20)}}`,
    lone_surrogate: '{"a":"\\ud800"}',
  };

  test.each(REASONS)("is reported, with the reason: %s", async (reason) => {
    const answer: EgressAnswer = {
      status: 200,
      headers: { "content-type": "text/html" },
      body: Buffer.from("upstream text"),
      elapsedMs: 1,
    };
    const statuses: Partial<Record<DocumentReason, number>> = {
      not_json: 200,
      duplicate_member: 200,
      too_deep: 200,
      lone_surrogate: 200,
      redirected: 302,
      status_not_200: 500,
    };
    const status = statuses[reason] ?? null;
    let asked = 0;
    const send = async () => {
      asked++;
      if (reason === "not_json") return answer;
      const body = REFUSED_JSON[reason];
      if (body !== undefined)
        return { ...answer, headers: { "content-type": "application/json" }, body: Buffer.from(body) };
      if (reason === "redirected") return { ...answer, status: 302 };
      if (reason === "status_not_200") return { ...answer, status: 500 };
      throw egressFault(reason as EgressReason, new Error("upstream text"));
    };
    const report = await examine({ send, clock: handClock(), allowedOrigins: [] }, DISCOVERY_URL);
    expect(report).toMatchObject({
      discoveryUrl: DISCOVERY_URL,
      unreachable: { reason, status },
      issuer: null,
      hosts: [],
      warnings: [],
      answerMs: null,
      clockOffsetSeconds: null,
      metadata: null,
      keys: [],
    });
    expect(report.checks.filter(({ status }) => status !== "unknown").map(({ id }) => id)).toEqual(["R5"]);
    expect(report.checks[4]).toMatchObject({
      status: "not_met",
      evidence: expect.stringContaining(explainDocumentFailure({ reason, status }, DISCOVERY_URL)),
    });
    expect(JSON.stringify(report)).not.toContain("upstream text");
    expect(asked).toBe(1);
  });

  test("because of an error of Latchkey itself is not reported as the provider's", async () => {
    const send = () => Promise.reject(new TypeError("ours"));
    await expect(examine({ send, clock: handClock(), allowedOrigins: [] }, DISCOVERY_URL)).rejects.toThrow(
      "ours",
    );
  });
});
