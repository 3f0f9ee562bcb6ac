import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../src/contract/operations.ts";
import { problems } from "../src/contract/problems.ts";
import { signOnReasons } from "../src/contract/sign-on-reasons.ts";
import { createTestApp, PUBLIC_URL, type TestApp } from "./support/app.ts";

/** The pages that `links.about` and `error_uri` lead to (wire.md 26). */

let latchkey: TestApp;

beforeAll(async () => {
  latchkey = await createTestApp();
});
afterAll(() => latchkey.close());

const visit = async (url: string) => {
  // The limit by source address.
  latchkey.clock.advance(1000);
  const path = url.replace(PUBLIC_URL, "");
  const answer = await latchkey.app.fetch(new Request(`http://internal${path}`));
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
};

const CODES = [...new Set([...Object.keys(problems), ...Object.keys(signOnReasons)])];

describe("the page of an error", () => {
  test.each(CODES)("%s says what it means, who can fix it and how", async (code) => {
    const { status, headers, body } = await visit(`/errors/${code}`);
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers.get("cache-control")).toBe("public, max-age=86400");
    expect(headers.get("vary")).toBeNull();
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    for (const part of [`<h1><code>${code}</code></h1>`, "What it means", "Who can fix it", "How to fix it"])
      expect(body).toContain(part);
    expect(body).not.toMatch(/undefined|\[object/);
  });

  test("has both meanings of a code that is an error of the API and a reason of a sign-on", async () => {
    const { body } = await visit("/errors/idp_unavailable");
    expect(body).toContain("As an answer: 503 Service Unavailable");
    expect(body).toContain("As the reason of a failed sign-on");
  });

  test("links to the operations that answer with it", async () => {
    const { body } = await visit("/errors/last_administrator");
    const links = [...body.matchAll(/\/docs#(\w+)"/g)].map(([, id]) => id);
    expect(links).toEqual(["updateMember", "deleteMember", "eraseMember"]);
    for (const link of links) expect(operations.map(({ id }) => id)).toContain(link);
  });

  test.each(["nothing", "__proto__", "toString", "%3Cscript%3E", "id_token"])(
    "of the unknown code %s is a 404 that repeats nothing of the address",
    async (code) => {
      const { status, headers, body } = await visit(`/errors/${code}`);
      expect([status, headers.get("cache-control")]).toEqual([404, "no-store"]);
      expect(body).not.toContain(code);
    },
  );
});

test("the list of errors links to each of their pages", async () => {
  const { body } = await visit("/errors");
  const links = [...body.matchAll(/\/errors\/([\w.]+)"/g)].map(([, code]) => code);
  expect(new Set(links)).toEqual(new Set(CODES));
});

describe("an answer leads to the page of its error", () => {
  const ask = async (path: string, init: RequestInit) =>
    (await (await latchkey.app.fetch(new Request(`http://internal${path}`, init))).json()) as {
      error_uri?: string;
      errors: { code: string; links: { about: string } }[];
    };

  test("by links.about, in each of its errors", async () => {
    const { errors } = await ask("/v2/nowhere", {});
    expect(errors.map(({ links }) => links)).toEqual([{ about: `${PUBLIC_URL}/errors/route_not_found` }]);
    expect((await visit(errors[0]?.links.about ?? "")).status).toBe(200);
  });

  test("by error_uri, at an OAuth endpoint (RFC 6749 5.2)", async () => {
    const { errors, error_uri } = await ask("/oauth/access_token", {
      method: "POST",
      body: "grant_type=odd",
    });
    expect(error_uri).toBe(`${PUBLIC_URL}/errors/${errors[0]?.code}`);
    expect((await visit(error_uri ?? "")).status).toBe(200);
  });
});
