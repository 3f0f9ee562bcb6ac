import { describe, expect, test } from "vitest";
import { checkAtGateway } from "../../src/contract/gateway.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { callback, jwks } from "../../src/contract/sign-on.ts";
import type { Database } from "../../src/storage/storage.ts";
import { createTestApp } from "../support/app.ts";
import { type Call, call } from "../support/call.ts";
import {
  brokenDatabase,
  everyOperation,
  FORM,
  goodRequest,
  grantOf,
  idsFor,
  latchkey,
  ofApi,
  store,
  token,
  withBody,
  withQuery,
} from "./requests.ts";

/** Rules of input and of outages that hold for each operation because of its kind. */

everyOperation();

describe.each(withBody)("%s", (_, operation) => {
  const send = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) => {
    const { json: _json, form: _form, ...request } = goodRequest(operation);
    return call(latchkey.app, operation, { ...request, raw, headers });
  };

  test.each([
    ["text/plain"],
    ["application/json\ta"],
    ["application/json garbage"],
    ["application/json; charset=utf-7"],
    ["application/jsonx"],
    ["multipart/form-data; boundary=x"],
    ["application/vnd.api+json"],
  ])("415 for a body of type %s (T37, A63)", async (type) => {
    const answer = await send("{}", { "content-type": type });
    expect([answer.status, answer.code]).toEqual([415, "media_type_unsupported"]);
    const [error] = answer.body.errors;
    expect(error).toMatchObject({ source: { header: "Content-Type" } });
    expect(error?.detail).toContain("This operation reads `application/json`");
  });

  test("400 for a body that breaks off, not 503", async () => {
    const { json: _json, form: _form, ...request } = goodRequest(operation);
    const raw = new ReadableStream({
      start: (controller) => controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" })),
    });
    const headers = { "content-type": "application/json" };
    const answer = await call(latchkey.app, operation, { ...request, raw, headers });
    expect([answer.status, answer.code]).toEqual([400, "body_broke_off"]);
  });

  test("415 for a compressed body, and for one without a type (T37, A63, A66)", async () => {
    expect(
      (await send("{}", { "content-type": "application/json", "content-encoding": "gzip" })).status,
    ).toBe(415);
    expect((await send(new Uint8Array([123, 125]), {})).status).toBe(415);
  });

  test("400 for a body that is not JSON", async () => {
    const answer = await send("{", { "content-type": "application/json" });
    expect([answer.status, answer.code]).toEqual([400, "body_not_json"]);
    expect(answer.body.errors[0]?.detail).toBe("The body is not JSON. Seen at line 1, column 2.");
  });

  test.each([
    ["a NUL in a text", String.raw`{"data":{"x":["a\u0000b"]}}`, "member_invalid"],
    ["a NUL in a member's name", String.raw`{"data":{"a\u0000b":1}}`, "member_invalid"],
    ["half a surrogate pair in a text", String.raw`{"data":{"x":["\ud83d"]}}`, "body_not_json"],
    ["half a surrogate pair in a member's name", String.raw`{"data":{"\udd11":1}}`, "body_not_json"],
  ])("400 for %s, also in an ignored member", async (_, raw, code) => {
    const answer = await send(raw, { "content-type": "application/json" });
    expect([answer.status, answer.code]).toEqual([400, code]);
    expect(JSON.stringify(answer.body)).not.toMatch(/u0000|a\0b|ud83d|udd11/);
  });

  const FORMS: [string, string | Uint8Array<ArrayBuffer>][] = [
    ["a NUL", "x=%00"],
    ["half a surrogate pair", "x=%ED%A0%BD"],
    ["bytes that are not UTF-8", new Uint8Array([120, 61, 0xe9])],
  ];
  test.each(operation.body?.form ? FORMS : [])("400 for a form with %s", async (_, raw) => {
    const answer = await send(raw, { "content-type": "application/x-www-form-urlencoded" });
    expect([answer.status, answer.code]).toEqual([400, "member_invalid"]);
  });

  test("400 for a member that is missing, and for one of another type", async () => {
    expect((await send("{}", { "content-type": "application/json" })).codes).toContain("member_missing");
    const wrong = JSON.stringify({
      ...(operation.body?.grants && { ...grantOf(operation), client_id: 7 }),
      data: { grace_seconds: "x", name: 7, type: 7, digest: 7, after: "x" },
      token: 7,
      logout_token: 7,
    });
    expect((await send(wrong, { "content-type": "application/json" })).codes).toContain("member_invalid");
  });

  test("413 for a body over 16 KB, announced or not (T38)", async () => {
    const long = `{"x":"${"x".repeat(16 * 1024)}"}`;
    const headers = { "content-type": "application/json" };
    expect((await send(long, { ...headers, "content-length": String(long.length) })).status).toBe(413);
    expect((await send(long, headers)).status).toBe(413);
  });
});

describe.each(withQuery)("%s", (_, operation) => {
  test.each([
    ["a NUL", "filter=eq(name,%00)"],
    ["half a surrogate pair", "filter=eq(name,%ED%A0%BD)"],
    ["bytes that are not UTF-8", "page[limit]=1&x=%FF"],
  ])("400 for a query with %s", async (_, query) => {
    const answer = await call(latchkey.app, operation, { ...goodRequest(operation), query });
    expect([answer.status, answer.code]).toEqual([400, "parameter_invalid"]);
  });

  test("400 for a parameter that is out of bounds, with the expected values", async () => {
    const query =
      "page[limit]=0&page[offset]=x&page[after]=%27&seconds=0&after=x&types=%27&step=week&from=x&customer=x";
    const answer = await call(latchkey.app, operation, { ...goodRequest(operation), query });
    expect(answer.code).toBe("parameter_invalid");
    for (const { detail } of answer.body.errors)
      expect(detail).toMatch(/^`[^`]+`: expected (?!Invalid|another)|^There is no parameter/);
  });
});

describe.each(ofApi)("%s", (_, operation) => {
  test("414 for a URL over 8 KB", async () => {
    const answer = await call(latchkey.app, operation, {
      ...goodRequest(operation),
      query: `x=${"x".repeat(8 * 1024)}`,
    });
    expect([answer.status, answer.code]).toEqual([414, "url_too_long"]);
  });

  test("503 with Retry-After when the database is away, 500 for an internal error; neither shows the cause", async () => {
    // These three operations answer from memory once they have read the database.
    const isCold = operation === jwks || operation === checkAtGateway || operation === callback;
    const latchkey = isCold ? await createTestApp() : warm();
    const { db } = latchkey.storage;
    if (!isCold) await call(latchkey.app, operation, goodRequest(operation));
    const request = operation.access === "client" ? clientRequest(operation) : goodRequest(operation);
    const callWith = async (broken: Database) => {
      latchkey.storage.db = broken;
      return call(latchkey.app, operation, request).finally(() => {
        latchkey.storage.db = db;
      });
    };
    const away = await callWith(
      brokenDatabase(Object.assign(new Error("connect marker"), { code: "ECONNREFUSED" })),
    );
    const ours = await callWith(brokenDatabase(new TypeError("marker")));
    expect([away.status, away.code, away.headers.get("retry-after")]).toEqual([
      503,
      "storage_unavailable",
      "2",
    ]);
    expect([ours.status, ours.code]).toEqual([500, "internal_error"]);
    expect(JSON.stringify([away.body, ours.body])).not.toContain("marker");
  });
});

const clientRequest = (operation: Operation): Call => ({
  ids: idsFor(operation),
  form: {
    ...FORM,
    grant_type: operation.body?.grants?.at(-1) ?? "client_credentials",
    token,
    client_id: store.key.clientId,
    client_secret: store.key.clientSecret,
  },
});

const warm = () => latchkey;
