import { describe, expect, test } from "vitest";
import { openapiDocument } from "../../packages/server/src/contract/openapi.ts";
import { breakagesOf, type Document } from "./breakages.ts";
import { hasReleaseBefore, readReleaseBefore } from "./release-before.ts";

/** Within /v2 changes only add: a client of the previous release still works. */

/** Intended exceptions, with the reason. They are removed when e2e/previous-release names a later release. */
const MEANT: readonly { what: RegExp; why: string }[] = [
  {
    what: /\.grant_type: takes only some values now$/,
    why: "Others were refused before, too. Now the document says so.",
  },
  {
    what: /\/authorize \?\w+: is required now$/,
    why: "They were needed before, too. Now the document lists what authorize reads.",
  },
  {
    what: /\?(filter: maxLength|sort: pattern) is stricter now$/,
    why: "Others were refused before, too. Now the document says so.",
  },
  {
    what: /\?Idempotency-Key: pattern is stricter now$/,
    why: "Others were refused before, too. Now the document says so.",
  },
  {
    what: /logout_token: maxLength is stricter now$/,
    why: "A token could be as long as the whole body; a provider's have some hundred characters.",
  },
  {
    what: /\/oidc-profiles\S* answers\.data(\[\])?\.meta\.(has_next_client_secret|pending_change): is not always there now$/,
    why: "Public tokens no longer read what is for administrators.",
  },
  {
    what: /\/approve-drift: needs a body now$/,
    why: "The document that was shown is approved, and not one that has come since: it must be named.",
  },
  {
    what: /\/(access_token|introspect|revoke|token|backchannel-logout) takes: application\/json is gone$/,
    why: "It is taken as before. Generated clients that find it listed send it instead of their form.",
  },
];

test.skipIf(!hasReleaseBefore)(
  "requests of the previous release are accepted and answered as before, with the listed exceptions",
  () => {
    const before = JSON.parse(readReleaseBefore("docs/openapi.json"));
    const found = breakagesOf(before, openapiDocument("https://keys.example") as unknown as Document);
    expect(found.filter((line) => !MEANT.some(({ what }) => what.test(line)))).toEqual([]);
    for (const { what } of MEANT)
      expect(
        found.some((line) => what.test(line)),
        String(what),
      ).toBe(true);
  },
);

describe("a breakage is found", () => {
  const text = { type: "string" };
  const shape = (properties: object, required: string[] = []) => ({ type: "object", properties, required });
  const documentOf = ({
    parameters = [],
    takes = {},
    answers = {},
    status = "200",
    path = "/v2/x",
  }): Document =>
    ({
      paths: {
        [path]: {
          put: {
            parameters,
            requestBody: { content: { "application/json": { schema: takes } } },
            responses: { [status]: { content: { "application/json": { schema: answers } } }, 404: {} },
          },
        },
      },
      components: { schemas: { Named: shape({ a: text }, ["a"]) } },
    }) as unknown as Document;
  type Written = Parameters<typeof documentOf>[0];
  const found = (before: Written, after: Written) => breakagesOf(documentOf(before), documentOf(after));
  const limit = (required: boolean) => ({ name: "limit", in: "query", required, schema: text });

  test.each<[string, Written, Written, string]>([
    ["an operation that is gone", {}, { path: "/v2/y" }, "PUT /v2/x: is gone"],
    ["another status", {}, { status: "202" }, "PUT /v2/x: 200 is gone"],
    ["a parameter that is gone", { parameters: [limit(false)] as never }, {}, "PUT /v2/x ?limit: is gone"],
    [
      "a parameter that is needed",
      { parameters: [limit(false)] as never },
      { parameters: [limit(true)] as never },
      "PUT /v2/x ?limit: is required now",
    ],
    [
      "a member that a request needs",
      { takes: shape({ a: text }) },
      { takes: shape({ a: text }, ["a"]) },
      "PUT /v2/x takes.a: is required now",
    ],
    [
      "a member that is not read",
      { takes: shape({ a: text }) },
      { takes: shape({}) },
      "PUT /v2/x takes.a: is gone",
    ],
    [
      "a value that is refused",
      { takes: { enum: ["a", "b"] } },
      { takes: { enum: ["a"] } },
      "PUT /v2/x takes: b is refused now",
    ],
    [
      "a stricter bound",
      { takes: text },
      { takes: { ...text, maxLength: 9 } },
      "PUT /v2/x takes: maxLength is stricter now",
    ],
    [
      "null, which is refused",
      { takes: { type: ["string", "null"] } },
      { takes: text },
      "PUT /v2/x takes: is no null any more",
    ],
    [
      "a member that an answer lacks",
      { answers: { $ref: "#/components/schemas/Named" } },
      { answers: shape({}) },
      "PUT /v2/x answers.a: is gone",
    ],
    [
      "a member that is not always there",
      { answers: { type: "array", items: shape({ a: text }, ["a"]) } },
      { answers: { type: "array", items: shape({ a: text }) } },
      "PUT /v2/x answers[].a: is not always there now",
    ],
    [
      "null where there was none",
      { answers: shape({ a: text }) },
      { answers: shape({ a: { anyOf: [text, { type: "null" }] } }) },
      "PUT /v2/x answers.a: may be null now",
    ],
  ])("in %s", (_, before, after, line) => expect(found(before, after)).toContain(line));

  test("in no pure addition", () => {
    const before = {
      takes: shape({ a: { ...text, maxLength: 9 } }, ["a"]),
      answers: shape({ a: { enum: ["x"] } }),
    };
    const after = {
      parameters: [limit(false)] as never,
      takes: shape({ a: { ...text, maxLength: 10 }, b: text }),
      answers: shape({ a: { enum: ["x", "y"] }, b: text }, ["a", "b"]),
    };
    expect(found(before, after)).toEqual([]);
  });
});
