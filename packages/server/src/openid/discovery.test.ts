import { describe, expect, test } from "vitest";
import { limits } from "../contract/limits.ts";
import { type EgressRequest, egressFault } from "../egress/egress-message.ts";
import {
  fetchDiscovery,
  fetchDocument,
  hostsOf,
  isIssuerOf,
  type Send,
  textOf,
  textsOf,
  toDiscoveryUrl,
  toMetadata,
  usableAlgorithms,
} from "./discovery.ts";

const SUFFIX = "/.well-known/openid-configuration";
const URL_OF_IT = `https://idp.example${SUFFIX}`;

describe("the address of a discovery document", () => {
  test.each([
    ["https://idp.example", URL_OF_IT],
    ["https://idp.example/", URL_OF_IT],
    [URL_OF_IT, URL_OF_IT],
    ["https://idp.example/tenant", `https://idp.example/tenant${SUFFIX}`],
    ["https://idp.example/tenant/", `https://idp.example/tenant${SUFFIX}`],
    [`https://idp.example/tenant${SUFFIX}`, `https://idp.example/tenant${SUFFIX}`],
    ["https://idp.example:8443/a/b", `https://idp.example:8443/a/b${SUFFIX}`],
    [`${URL_OF_IT}/`, URL_OF_IT],
    // Microsoft Entra names the application in a query, and then shows the keys that sign for it alone.
    [`${URL_OF_IT}?appid=1`, `${URL_OF_IT}?appid=1`],
    [`${URL_OF_IT}/?appid=1`, `${URL_OF_IT}?appid=1`],
    ["https://idp.example/tenant/?appid=1", `https://idp.example/tenant${SUFFIX}?appid=1`],
    ["https://idp.example?at=/a/", `${URL_OF_IT}?at=/a/`],
    // The suffix follows the path; it is not put between host and path (R122).
    [
      "https://idp.example/.well-known/oauth-authorization-server/tenant",
      `https://idp.example/.well-known/oauth-authorization-server/tenant${SUFFIX}`,
    ],
  ])("is made from the text that an administrator pastes (R121): %s", (pasted, expected) => {
    expect(toDiscoveryUrl(pasted)).toBe(expected);
  });

  test("is the same if it is made from itself again", () => {
    expect(toDiscoveryUrl(toDiscoveryUrl("https://idp.example/"))).toBe(URL_OF_IT);
    const withQuery = toDiscoveryUrl("https://idp.example/?appid=1");
    expect(toDiscoveryUrl(withQuery)).toBe(withQuery);
  });
});

describe("an issuer", () => {
  test.each([
    ["https://idp.example", URL_OF_IT],
    ["https://idp.example/", URL_OF_IT],
    ["https://idp.example", "https://idp.example"],
    ["https://idp.example/", "https://idp.example"],
    ["https://idp.example", "https://idp.example/"],
    ["https://idp.example/tenant", `https://idp.example/tenant${SUFFIX}`],
    ["https://idp.example/tenant/", `https://idp.example/tenant${SUFFIX}`],
    ["https://idp.example", `${URL_OF_IT}/`],
    ["https://idp.example", `${URL_OF_IT}?appid=1`],
    ["https://idp.example/tenant", "https://idp.example/tenant/?appid=1"],
  ])("agrees with the address of its document: %s and %s (R124)", (issuer, url) => {
    expect(isIssuerOf(issuer, url)).toBe(true);
  });

  test.each([
    ["another host", "https://evil.example"],
    ["another case of the host", "https://IDP.example"],
    ["another case of the scheme", "HTTPS://idp.example"],
    ["another scheme", "http://idp.example"],
    ["the standard port", "https://idp.example:443"],
    ["another port", "https://idp.example:8443"],
    ["a path", "https://idp.example/tenant"],
    ["a query", "https://idp.example?a"],
    ["an empty query", "https://idp.example/?"],
    ["a fragment", "https://idp.example#a"],
    ["an empty fragment", "https://idp.example#"],
    ["a user", "https://a@idp.example"],
    ["a dot at the end of the host", "https://idp.example."],
    ["two slashes at the end", "https://idp.example//"],
    ["a space at the end", "https://idp.example "],
    ["a line break at the end", "https://idp.example\n"],
    ["an escaped letter", "https://idp.exampl%65"],
    ["a host that begins like it", "https://idp.example.evil.example"],
    ["less", "https://idp.exampl"],
    ["nothing", ""],
    ["a slash alone", "/"],
    ["the address of the document", URL_OF_IT],
  ])("does not agree when it has %s (R124)", (_, issuer) => {
    expect(isIssuerOf(issuer, URL_OF_IT)).toBe(false);
    expect(isIssuerOf(issuer, `${URL_OF_IT}?a`)).toBe(false);
  });

  test.each([
    ["another case of the path", "https://idp.example/Tenant"],
    ["another tenant", "https://idp.example/other"],
    ["no tenant", "https://idp.example"],
    ["a dot segment", "https://idp.example/a/../tenant"],
    ["a template", "https://idp.example/{tenant}"],
  ])("does not agree with the address of a tenant when it has %s", (_, issuer) => {
    expect(isIssuerOf(issuer, `https://idp.example/tenant${SUFFIX}`)).toBe(false);
  });

  test("with one slash at its end is not the issuer of a document at an address with two slashes (R121)", () => {
    expect(isIssuerOf("https://idp.example//", `https://idp.example/${SUFFIX}`)).toBe(true);
    expect(isIssuerOf("https://idp.example/", `https://idp.example/${SUFFIX}`)).toBe(false);
  });
});

type Given = { status?: number; headers?: Record<string, string>; body?: string | Uint8Array };
const JSON_TYPE = { "content-type": "application/json" };

/** A provider that answers everything alike, and notes what it was asked. */
function answering({ status = 200, headers = JSON_TYPE, body = "{}" }: Given = {}) {
  const asked: EgressRequest[] = [];
  const send: Send = async (request) => {
    asked.push(request);
    return { status, headers, body: Buffer.from(body as string), elapsedMs: 12.5 };
  };
  return { send, asked };
}
const fetched = (given: Given) => fetchDocument(answering(given).send, "keys", URL_OF_IT, 1000);

describe("a document", () => {
  test("is read with one request, without credentials, up to its size limit", async () => {
    const { send, asked } = answering();
    await fetchDocument(send, "keys", URL_OF_IT, 1000);
    expect(asked).toEqual([{ kind: "keys", url: URL_OF_IT, maxBytes: 1000 }]);
  });

  test("of discovery is read at its path, up to its size limit", async () => {
    const { send, asked } = answering();
    await fetchDiscovery(send, "https://idp.example/");
    expect(asked).toEqual([{ kind: "discovery", url: URL_OF_IT, maxBytes: limits.discoveryBytes }]);
  });

  test("comes with the duration and the time of the other side", async () => {
    const headers = { ...JSON_TYPE, date: "Thu, 01 Jan 2026 00:00:00 GMT" };
    expect(await fetched({ headers, body: '{"a":1}' })).toEqual({
      document: { a: 1 },
      elapsedMs: 12.5,
      dateMs: Date.parse("2026-01-01T00:00:00Z"),
    });
  });

  test.each([undefined, "", "yesterday", "Thu, 99 Jan 2026"])(
    "needs no date that can be read: %s",
    async (date) => {
      const headers = { ...JSON_TYPE, ...(date !== undefined && { date }) };
      expect(await fetched({ headers })).toMatchObject({ document: {}, dateMs: undefined });
    },
  );

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "application/json ; a=b",
    "Application/JSON",
    "application/jwk-set+json",
    "application/jwk-set+json; charset=utf-8",
  ])("may be %s (R123)", async (type) => {
    expect(await fetched({ headers: { "content-type": type } })).toHaveProperty("document");
  });

  test.each([
    "text/html",
    "text/plain",
    "text/json",
    "application/jwt",
    "application/jsonp",
    "application/json-seq",
    "application/problem+json",
    "application/jwk-set",
    "application/jwk-set+jsonx",
    "application/javascript; application/json",
    "xapplication/json",
    "application/json, text/html",
    "application/json text/html",
    "",
  ])("may not be %j (N60)", async (type) => {
    expect(await fetched({ headers: { "content-type": type } })).toEqual({ reason: "not_json", status: 200 });
  });

  test("may not be without a content type", async () => {
    expect(await fetched({ headers: {} })).toEqual({ reason: "not_json", status: 200 });
  });

  test.each([300, 301, 302, 303, 304, 307, 308, 399])(
    "of status %d is a redirect, and is not followed (N59)",
    async (status) => {
      const { send, asked } = answering({
        status,
        headers: { ...JSON_TYPE, location: "https://evil.example/" },
      });
      expect(await fetchDocument(send, "keys", URL_OF_IT, 1000)).toEqual({ reason: "redirected", status });
      expect(asked).toHaveLength(1);
    },
  );

  test.each([0, 199, 201, 204, 206, 400, 401, 403, 404, 429, 500, 503])(
    "of status %d is refused",
    async (status) => {
      expect(await fetched({ status })).toEqual({ reason: "status_not_200", status });
    },
  );

  test.each<[string, string | Uint8Array]>([
    ["nothing", ""],
    ["a list", "[]"],
    ["a list of objects", '[{"issuer":"https://idp.example"}]'],
    ["a text", '"a"'],
    ["a number", "1"],
    ["null", "null"],
    ["true", "true"],
    ["a page", "<html></html>"],
    ["a document that broke off", '{"issuer":"https://idp.exam'],
    ["two documents", "{}{}"],
    ["a byte order mark", "\ufeff{}"],
    ["UTF-16", Buffer.from("{}", "utf16le")],
    ["broken UTF-8", Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["a comment", "{/**/}"],
    ["NaN", '{"a":NaN}'],
  ])("may not be %s (N60)", async (_, body) => {
    expect(await fetched({ body })).toEqual({ reason: "not_json", status: 200 });
  });

  test.each<[string, string, string]>([
    [
      "a member twice",
      '{"issuer":"https://idp.example","issuer":"https://evil.example"}',
      "duplicate_member",
    ],
    ["a member twice, once escaped", '{"issuer":"a","iss\\u0075er":"b"}', "duplicate_member"],
    ["a member twice, further in", '{"a":[{"b":1,"b":2}]}', "duplicate_member"],
    ["lists 100,000 deep", "[".repeat(100_000) + "]".repeat(100_000), "too_deep"],
    ["objects 100,000 deep", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, "too_deep"],
    [
      "objects as deep as is too deep",
      `${'{"a":'.repeat(limits.jsonDepth + 1)}1${"}".repeat(limits.jsonDepth + 1)}`,
      "too_deep",
    ],
    ["half a character", '{"a":"\\ud800"}', "lone_surrogate"],
  ])("that is JSON with %s is refused for that (N60)", async (_, body, reason) => {
    expect(await fetched({ body })).toEqual({ reason, status: 200 });
  });

  test.each([
    ["__proto__", '{"__proto__":{"issuer":"https://evil.example"},"issuer":"https://idp.example"}'],
    ["an escaped __proto__", '{"\\u005f_proto__":{"a":1},"issuer":"https://idp.example"}'],
    ["constructor", '{"constructor":{"prototype":{"a":1}},"issuer":"https://idp.example"}'],
  ])("may have a member %s, which changes nothing else (N60)", async (_, body) => {
    const found = await fetched({ body });
    expect(found).toMatchObject({ document: { issuer: "https://idp.example" } });
    expect(toMetadata("document" in found ? found.document : {}).issuer).toBe("https://idp.example");
    expect([({} as Record<string, unknown>).issuer, ({} as Record<string, unknown>).a]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("without a member that every JavaScript object inherits does not have it", async () => {
    const found = await fetched({ body: "{}" });
    const document = "document" in found ? found.document : {};
    expect([document.constructor, document.toString, textsOf(document, "constructor")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each(["host_not_public", "tls_failed", "too_slow", "too_large", "resting"] as const)(
    "that could not be requested has the reason: %s",
    async (reason) => {
      const send = () => Promise.reject(egressFault(reason, new Error("upstream text")));
      expect(await fetchDocument(send, "keys", URL_OF_IT, 1000)).toEqual({ reason, status: null });
    },
  );

  test("does not hide an error of Latchkey itself", async () => {
    const send = () => Promise.reject(new TypeError("ours"));
    await expect(fetchDocument(send, "keys", URL_OF_IT, 1000)).rejects.toThrow("ours");
  });
});

describe("a member", () => {
  test.each([undefined, null, "", 1, true, [], ["a"], {}, { toString: () => "a" }])(
    "is no text: %j",
    (value) => {
      expect(textOf({ a: value }, "a")).toBeUndefined();
    },
  );

  test.each<[unknown, string[] | undefined]>([
    [undefined, undefined],
    [[], []],
    [
      ["a", "b"],
      ["a", "b"],
    ],
    [["a", 1], []],
    [["a", null], []],
    [[["a"]], []],
    ["a", []],
    ["code token", []],
    [null, []],
    [{ 0: "a", length: 1 }, []],
  ])("is a list of texts, or an empty list when it is something else: %j", (value, expected) => {
    expect(textsOf({ a: value }, "a")).toEqual(expected);
  });
});

describe("metadata", () => {
  const document = {
    issuer: "https://idp.example",
    authorization_endpoint: "https://idp.example/authorize",
    token_endpoint: "https://idp.example/token",
    jwks_uri: "https://keys.example/jwks",
    userinfo_endpoint: "https://idp.example/userinfo",
    id_token_signing_alg_values_supported: ["none", "HS256", "RS256", "rs256", "ES256", "RS512"],
    authorization_response_iss_parameter_supported: true,
    code_challenge_methods_supported: ["plain", "S256"],
    registration_endpoint: "https://idp.example/register",
  };

  test("have only the members that Latchkey uses", () => {
    expect(toMetadata(document)).toEqual({
      issuer: "https://idp.example",
      authorizationEndpoint: "https://idp.example/authorize",
      tokenEndpoint: "https://idp.example/token",
      jwksUri: "https://keys.example/jwks",
      userinfoEndpoint: "https://idp.example/userinfo",
      signingAlgorithms: ["RS256", "ES256"],
      sendsIss: true,
      supportsS256: true,
    });
  });

  test("ignore members of a wrong type", () => {
    const wrong = Object.fromEntries(Object.keys(document).map((member) => [member, { a: ["S256"] }]));
    expect(toMetadata(wrong)).toEqual({
      issuer: "",
      authorizationEndpoint: "",
      tokenEndpoint: "",
      jwksUri: "",
      userinfoEndpoint: null,
      signingAlgorithms: [],
      sendsIss: false,
      supportsS256: false,
    });
  });

  test.each<[string, unknown, boolean]>([
    ["true", true, true],
    ["false", false, false],
    ["a text", "true", false],
    ["a number", 1, false],
    ["nothing", undefined, false],
  ])("have `iss` as sent only for true: %s", (_, value, expected) => {
    const { sendsIss } = toMetadata({ ...document, authorization_response_iss_parameter_supported: value });
    expect(sendsIss).toBe(expected);
  });

  test.each<[string, unknown, boolean]>([
    ["listed", ["S256"], true],
    ["not listed", ["plain"], false],
    ["no list", "S256", false],
    ["nothing", undefined, false],
  ])("have S256 as known only if it is listed: %s", (_, value, expected) => {
    const { supportsS256 } = toMetadata({ ...document, code_challenge_methods_supported: value });
    expect(supportsS256).toBe(expected);
  });

  test.each<[unknown, string[]]>([
    [
      ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"],
      ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"],
    ],
    [["none", "HS256", "HS512", "RS384", "ES384", "ES256K", "RS1", "rs256", "RS256 "], []],
    ["RS256", []],
    [undefined, []],
  ])("keep only known asymmetric algorithms: %j", (listed, expected) => {
    expect(usableAlgorithms({ id_token_signing_alg_values_supported: listed })).toEqual(expected);
  });

  test("have each host once, with its port", () => {
    const metadata = toMetadata({ ...document, token_endpoint: "https://idp.example:8443/token" });
    expect(hostsOf(metadata)).toEqual(["idp.example", "idp.example:8443", "keys.example"]);
    expect(hostsOf({ ...metadata, userinfoEndpoint: null })).toHaveLength(3);
  });
});
