import { get } from "node:http";
import { ApiError } from "@latchkey/sdk";
import { parseAst } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type SignOnReason,
  signOnReasonEntry,
  signOnReasons,
} from "../../server/src/contract/sign-on-reasons.ts";
import { explain, isStillGood, wasUsedBefore } from "../src/storefront/pages/frame/explain.ts";
import { departureStep, exchangeStep, returnSteps } from "../src/storefront/pages/wire/wire-steps.ts";
import { type Storefront, startStorefront } from "../src/storefront/start.ts";

const PAGES = ["/", "/sign-in", "/signed-in", "/account", "/webhooks"];

let shop: Storefront;
beforeAll(async () => {
  shop = await startStorefront({
    apiUrl: "http://keys.example:4000/some/path",
    clientId: "lkid_practice",
    knobsUrl: "http://localhost:9000/knobs",
  });
});
afterAll(() => shop.close());

const fetchText = async (path: string) => (await fetch(shop.origin + path)).text();

describe("every answer", () => {
  test.each([...PAGES, "/nowhere", "/config.json", "/sdk/index.js", "/styles/ground.css"])(
    "%s lets in only its own scripts and styles, speaks only to itself and Latchkey, and sits in no frame",
    async (path) => {
      const { headers } = await fetch(shop.origin + path);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
          "connect-src 'self' http://keys.example:4000; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      );
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    },
  );

  test.each([
    ["/", "text/html; charset=utf-8"],
    ["/account?from=somewhere", "text/html; charset=utf-8"],
    ["/pages/shop/shop.js", "text/javascript; charset=utf-8"],
    ["/sdk/index.js", "text/javascript; charset=utf-8"],
    ["/styles/wire.css", "text/css; charset=utf-8"],
    ["/icon.svg", "image/svg+xml"],
    ["/config.json", "application/json; charset=utf-8"],
  ])("200 %s is %s", async (path, type) => {
    const answer = await fetch(shop.origin + path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(type);
  });

  test("200 HEAD is the same without a body", async () => {
    const [whole, head] = await Promise.all([fetch(shop.origin), fetch(shop.origin, { method: "HEAD" })]);
    expect(head.status).toBe(200);
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(await whole.text())));
    expect(await head.text()).toBe("");
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("405 %s: every path is read-only", async (method) => {
    const answer = await fetch(`${shop.origin}/sign-in`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  test("404 is a page of the shop", async () => {
    const answer = await fetch(`${shop.origin}/nowhere`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await answer.text()).toContain("There is no such page");
  });
});

describe("paths", () => {
  /** Sends the path unchanged. `fetch` would normalize it. */
  const rawStatus = (path: string) =>
    new Promise<number>((resolve, reject) => {
      const { hostname, port } = new URL(shop.origin);
      get({ hostname, port, path }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      }).on("error", reject);
    });

  test.each([
    "/../package.json",
    "/pages/../../start.ts",
    "/pages/..%2f..%2fstart.ts",
    "/pages/%2e%2e/start.ts",
    "/pages/shop/shop.ts",
    "/pages/frame/frame.html",
    "/sdk/../package.json",
    "/sdk/admin/index.js",
    "//config.json",
    "/config.json/",
    "/%63onfig.json",
    "/constructor",
    "http://elsewhere.example/config.json",
  ])("404 %s: only the paths of the table exist", async (path) => {
    expect(await rawStatus(path)).toBe(404);
  });
});

describe("pages", () => {
  test("/config.json has Latchkey's URL, the client id and the URL of the knobs", async () => {
    expect(JSON.parse(await fetchText("/config.json"))).toEqual({
      apiUrl: "http://keys.example:4000/some/path",
      clientId: "lkid_practice",
      knobsUrl: "http://localhost:9000/knobs",
    });
  });

  test("/config.json has no URL of the knobs without a practice provider", async () => {
    const plain = await startStorefront({ apiUrl: "http://localhost:4000", clientId: "lkid_practice" });
    const answer = await fetch(`${plain.origin}/config.json`);
    expect(await answer.json()).toEqual({ apiUrl: "http://localhost:4000", clientId: "lkid_practice" });
    await plain.close();
  });

  test.each([...PAGES, "/nowhere"])(
    "%s has nothing inline that the policy would stop, and no empty slot",
    async (path) => {
      const html = await fetchText(path);
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
      expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
      expect(html).not.toContain("{{");
    },
  );

  test.each([...PAGES, "/nowhere"])("%s loads only existing files, from the shop", async (path) => {
    const html = await fetchText(path);
    const loaded = [...html.matchAll(/<(?:script|link|img)[^>]*?(?:src|href)="([^"]+)"/g)].map(
      ([, url]) => url,
    );
    expect(loaded.length).toBeGreaterThan(3);
    for (const url of loaded)
      expect((await fetch(new URL(url as string, shop.origin))).status, url).toBe(200);
    for (const url of loaded) expect(url).toMatch(/^\/[^/]/);
  });

  test.each([...PAGES, "/nowhere"])("%s has each id once", async (path) => {
    const ids = [...(await fetchText(path)).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe("modules", () => {
  type Import = { type: string; source?: { value: string } | null };

  async function walk(path: string, seen: Map<string, string>): Promise<void> {
    if (seen.has(path)) return;
    const code = await fetchText(path);
    seen.set(path, code);
    const { body } = parseAst(code) as unknown as { body: Import[] };
    for (const { source } of body)
      if (source) await walk(new URL(source.value, shop.origin + path).pathname, seen);
  }

  test("are JavaScript without types, including the SDK's", async () => {
    expect(() => parseAst("const n: number = 1")).toThrow();
    const seen = new Map<string, string>();
    for (const page of ["shop", "sign-in", "signed-in", "account", "not-found"])
      await walk(`/pages/${page}/${page}.js`, seen);
    expect([...seen.keys()]).toContain("/sdk/index.js");
    for (const [path, code] of seen) {
      expect(code, path).not.toContain("There is no such page");
      expect(code, path).not.toMatch(/^(?:import|export)\b[^;]*from "(?:@|[^"]*\.ts")/m);
    }
  });
});

describe("on the wire", () => {
  const secrets = {
    state: "s-0123456789-state",
    code_challenge: "c-0123456789-challenge",
    code: "k-0123456789-code",
    client_id: "i-0123456789-client",
    something: "u-0123456789-unknown",
  };
  const shown = (steps: unknown) => JSON.stringify(steps);

  test("values are cut after six characters, also of unknown parameters", () => {
    const query = new URLSearchParams({ ...secrets, scope: "openid email", iss: "http://keys.example" });
    const steps = [
      departureStep(`http://keys.example/authorize?profile=p-0123456789&${query}`, false),
      ...returnSteps(`http://localhost:1/signed-in?${query}`, { isDirect: false }),
    ];
    for (const secret of Object.values(secrets)) {
      expect(shown(steps)).toContain(`"${secret.slice(0, 6)}…"`);
      expect(shown(steps)).not.toContain(secret.slice(0, 7));
    }
    expect(shown(steps)).toContain('"openid email"');
  });

  test("ids in URLs are cut, and queries are left out", () => {
    const url = "http://keys.example/v2/customers/01a1dfc7-623d-7984-89d0-a58478733bf7/tokens?token=secret";
    const { line } = exchangeStep({ method: "GET", url, status: 200, step: "sessions" }, "/account");
    expect(line).toBe("GET /v2/customers/01a1df…/tokens");
  });

  test("leg 2 is shown only for a sign-on that began here and went through Latchkey", () => {
    const url = "http://localhost:1/signed-in?code=abc&state=def";
    expect(returnSteps(url, { isDirect: false }).map(({ leg }) => leg)).toEqual([2, 1]);
    expect(returnSteps(url, { isDirect: true }).map(({ leg }) => leg)).toEqual([1]);
    expect(returnSteps(url, undefined).map(({ leg }) => leg)).toEqual([1]);
  });

  test("a refusal links to its record by its reference, and other text is not a reference", () => {
    const findOf = (reference: string) =>
      returnSteps(`http://shop.example/signed-in?error=access_denied&reference=${reference}`, undefined).at(
        -1,
      )?.find;
    expect(findOf("ABCD-EFGH")).toBe("ABCD-EFGH");
    for (const strange of ["", "a%20b", "%3Cb%3E", "..%2F..", "x".repeat(33)])
      expect(findOf(strange)).toBeUndefined();
  });

  test("the redemption of a code belongs to leg 1, a password sign-in to no leg", () => {
    const exchange = { method: "POST", url: "http://keys.example/v2/customers/tokens", status: 200 } as const;
    expect(exchangeStep({ ...exchange, step: "customer_token" }, "/signed-in").leg).toBe(1);
    expect(exchangeStep({ ...exchange, step: "customer_token" }, "/sign-in").leg).toBe(null);
  });
});

describe("a failure", () => {
  test("has a message for shoppers, and the reference", () => {
    const failure = new ApiError("access_denied", "You were not signed in.", { reference: "ABCD-EFGH" });
    expect(explain(failure)).toMatchObject({
      sentence: "You were not signed in.",
      reference: "ABCD-EFGH",
      isWorthTrying: true,
    });
  });

  const refusal = (reason: string) => {
    const { error } = signOnReasonEntry(reason as SignOnReason);
    return explain(new ApiError(error, "GENERAL", { reason }));
  };
  /** The reasons that concern shoppers, without the reasons of an invalid request. */
  const met = Object.keys(signOnReasons).filter((reason) =>
    /^(claims|email|several|provisioning|profile_(disabled|none)|idp_|token\.|id_token\.(?!auth_time)|userinfo\.|response\.)/.test(
      reason,
    ),
  );

  test.each(met)("%s has a text that says what happened, and whether a retry helps", (reason) => {
    const { title, sentence, isWorthTrying } = refusal(reason);
    expect([title, sentence]).not.toContain(undefined);
    expect(sentence).not.toBe("GENERAL");
    expect(sentence).toMatch(isWorthTrying ? /(helps|can try again|Try again in a minute)/ : /won’t help/);
    expect(sentence).not.toMatch(/token|code\b|issuer|HTTP|provider|client|OIDC|_/);
  });

  test("has at least nine different texts for refusals", () => {
    expect(new Set(met.map((reason) => refusal(reason).sentence)).size).toBeGreaterThanOrEqual(9);
    expect(refusal("email_taken").isWorthTrying).toBe(false);
    expect(refusal("token.unavailable").isWorthTrying).toBe(true);
  });

  test("of a form's field names the field, not the body", () => {
    const fault = {
      status: "400",
      code: "member_invalid",
      title: "Bad Request",
      detail: "too short",
      links: { about: "https://keys.example/errors/member_invalid" },
      id: "r",
    };
    const errors = [{ ...fault, source: { pointer: "/data/password" } }];
    const { sentence } = explain(new ApiError("member_invalid", "too short", { status: 400, errors }));
    expect(sentence).toBe("Please choose a password of 8 to 128 characters.");
  });

  test("with its own text keeps the text, whatever field its pointer names", () => {
    const links = { about: "https://keys.example/errors/email_taken" };
    const fault = { status: "409", code: "email_taken", title: "Conflict", detail: "taken", links, id: "r" };
    const errors = [{ ...fault, source: { pointer: "/data/email" } }];
    expect(explain(new ApiError("email_taken", "There is one.", { errors })).sentence).toBe("There is one.");
  });

  test("of the page itself shows no internal detail", () => {
    expect(explain(new TypeError("x is undefined")).sentence).not.toContain("undefined");
  });

  test.each(["callback_replay", "state_unknown", "code_already_used"] as const)(
    "%s means an answer that was used before",
    (code) => {
      expect(wasUsedBefore(explain(new ApiError(code, "")))).toBe(true);
      expect(isStillGood(explain(new ApiError(code, "")))).toBe(false);
    },
  );

  test("of the network keeps the answer in the address bar usable", () => {
    expect(isStillGood(explain(new ApiError("network_failed", "")))).toBe(true);
  });
});
