import { describe, expect, test } from "vitest";
import { updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { authorize, realmMetadata } from "../../../src/contract/sign-on.ts";
import { signOnReasonEntry } from "../../../src/contract/sign-on-reasons.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { COOKIE, newPkce } from "../../support/federation.ts";
import { newBrowser, REFERENCE, redirectOf, referenceOnPage } from "../../support/redirects.ts";
import {
  ask,
  atIdp,
  authorizeRequests,
  countRows,
  f,
  idsOfRealm,
  queryOf,
  withOwnFederation,
} from "./requests.ts";

/** Header fields of the answer, rows in the database, records and log lines. */

authorizeRequests();

describe("the answer's header fields", () => {
  test("forbid frames, other origins, referrers and caching, on redirects and on pages (R12 to R15)", async () => {
    const answers = [
      await f.begin(newBrowser()),
      await f.begin(newBrowser(), { response_type: "token" }),
      await f.begin(newBrowser(), { redirect_uri: "https://evil.example" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 400]);
    for (const { headers } of answers) {
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  test("a page loads nothing and links to nothing (R15)", async () => {
    const { body } = await f.begin(newBrowser(), { redirect_uri: "https://evil.example" });
    expect([...body.matchAll(/(?:href|src|action)="([^"]*)"/g)].map((match) => match[1])).toEqual(["data:,"]);
    expect(body).not.toMatch(/<(script|img|iframe|form|meta http-equiv)|url\(|@import/i);
  });

  test("every redirect to the storefront has iss, as the metadata announces (R17)", async () => {
    const { body } = await call(f.latchkey.app, realmMetadata, { ids: idsOfRealm() });
    expect(body.authorization_response_iss_parameter_supported).toBe(true);
    expect(redirectOf(await f.begin(newBrowser(), { scope: "x" })).iss).toBe(body.issuer);
    expect((await f.signOn()).returned.get("iss")).toBe(body.issuer);
  });

  test("the host headers of the request are ignored (T34, R181, A60)", async () => {
    const headers = {
      host: "elsewhere.example",
      forwarded: "host=elsewhere.example;proto=http",
      "x-forwarded-host": "elsewhere.example",
      "x-forwarded-proto": "http",
      "x-forwarded-port": "666",
      "x-original-url": "/elsewhere",
      "x-rewrite-url": "/elsewhere",
    };
    const begun = await ask(queryOf(), { headers });
    const refused = await ask(queryOf({ scope: "x" }), { headers });
    const page = await ask(queryOf({ client_id: "x" }), { headers });
    expect(atIdp(begun).get("redirect_uri")).toBe(f.callbackUrl);
    expect(redirectOf(refused).iss).toBe(f.issuer);
    for (const { headers: fields, body } of [begun, refused, page])
      expect(JSON.stringify([...fields]) + body).not.toContain("elsewhere");
  });
});

describe("the database", () => {
  withOwnFederation();

  test("a thousand abandoned sign-ons leave no row in any table (A76)", async () => {
    await f.begin(newBrowser());
    await f.latchkey.app.tidy();
    const before = await countRows();
    for (let index = 0; index < 1000; index++) {
      f.latchkey.clock.advance(10);
      expect((await f.begin(newBrowser(), { state: `state ${index}` })).status).toBe(303);
    }
    await f.latchkey.app.tidy();
    expect(await countRows()).toEqual(before);
    expect(Object.keys(before).length).toBeGreaterThan(10);
  });

  test("429 as a page for the 201st request of one address; other addresses go on (A76)", async () => {
    const statuses = [];
    for (let index = 0; index < 201; index++)
      statuses.push((await ask(queryOf(), { peer: "192.0.2.1" })).status);
    expect(statuses.slice(0, 200).every((status) => status === 303)).toBe(true);
    expect(statuses[200]).toBe(429);
    expect((await ask(queryOf(), { peer: "192.0.2.2" })).status).toBe(303);
  });
});

describe("the record of an error", () => {
  withOwnFederation();

  test("is found by the reference in the redirect", async () => {
    const { reference = "" } = redirectOf(await f.begin(newBrowser(), { response_type: "token" }));
    const { means, remedy } = signOnReasonEntry("response_type_unsupported");
    expect(await f.recordOf(reference)).toMatchObject({
      reference,
      realm_id: f.realmId,
      profile_id: null,
      outcome: "failed",
      reason: "response_type_unsupported",
      error: "unsupported_response_type",
      means,
      remedy,
      customer_id: null,
      checks: [],
    });
  });

  test("is found by the reference on the page", async () => {
    const answer = await f.begin(newBrowser(), { redirect_uri: "https://evil.example" });
    const reference = referenceOnPage(answer);
    expect(reference).toMatch(REFERENCE);
    const record = await f.recordOf(reference);
    expect(record).toMatchObject({ outcome: "failed", reason: "redirect_uri_unregistered", error: null });
    expect(record.remedy).toMatch(/redirect_uris/);
    const { redirect_uri, ...rest } = record;
    expect(redirect_uri).toBe("https://evil.example");
    expect(JSON.stringify(rest)).not.toContain("evil");
  });

  test("has the profile of the request", async () => {
    await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: f.profileId },
      json: { data: { type: "oidc-profile", enabled: false } },
    });
    const { reference = "" } = redirectOf(await f.begin(newBrowser()));
    expect(await f.recordOf(reference)).toMatchObject({
      reason: "profile_disabled",
      profile_id: f.profileId,
      profile_name: "Hostile",
    });
  });

  /** Counts all records of the store: a page of the API has a hundred at most. */
  const countRecords = async (): Promise<number> => {
    await f.latchkey.app.tidy();
    const rows = await f.latchkey.storage.db
      .selectFrom("sign_ons")
      .where("store_id", "=", f.store.store.id)
      .select("id")
      .execute();
    return rows.length;
  };

  test("a good request leaves none", async () => {
    await f.begin(newBrowser());
    expect(await f.records()).toEqual([]);
  });

  test("is kept at most twenty times at once for one source, then one a second; other sources are counted apart (wire 15)", async () => {
    const fail = (peer: string) => ask(queryOf({ scope: "x" }), { peer });
    const answers = [];
    for (let index = 0; index < 25; index++) answers.push(await fail("192.0.2.1"));
    const references = answers
      .map((answer) => redirectOf(answer).reference)
      .filter((one) => one !== undefined);
    expect(new Set(references).size).toBe(20);
    expect(await f.records()).toHaveLength(20);
    await fail("192.0.2.2");
    expect(await f.records()).toHaveLength(21);
    f.latchkey.clock.advance(1000);
    await fail("192.0.2.1");
    await fail("192.0.2.1");
    expect(await f.records()).toHaveLength(22);
  });

  test("is kept at most twenty times at once for one IPv6 /48", async () => {
    const fail = (peer: string) => ask(queryOf({ scope: "x" }), { peer });
    for (let index = 0; index < 25; index++) await fail(`2001:db8:1:${index.toString(16)}::1`);
    expect(await countRecords()).toBe(20);
    await fail("2001:db8:2::1");
    expect(await countRecords()).toBe(21);
  });

  test("is kept at most two hundred times at once for a store, then two a second, for any number of addresses", async () => {
    const fail = (index: number) =>
      ask(queryOf({ scope: "x" }), { peer: `198.51.${100 + Math.floor(index / 250)}.${index % 250}` });
    const answers = [];
    for (let index = 0; index < 210; index++) answers.push(redirectOf(await fail(index)));
    expect(answers.every(({ error }) => error === "invalid_scope")).toBe(true);
    expect(answers.filter(({ reference }) => reference !== undefined)).toHaveLength(200);
    expect(await countRecords()).toBe(200);
    f.latchkey.clock.advance(1000);
    for (let index = 210; index < 220; index++) await fail(index);
    expect(await countRecords()).toBe(202);
  });
});

describe("the log line", () => {
  withOwnFederation();

  const lineFor = () => f.latchkey.logLines.at(-1) ?? {};
  const marked = {
    state: "marker-state",
    nonce: "marker-nonce",
    prompt: "marker-prompt",
    login_hint: "marker-hint",
    foo: "marker-foo",
  };

  test("has a refusal's reference and reason, and nothing of the query or the cookie (A70, I10)", async () => {
    const { challenge } = newPkce();
    const headers = { cookie: `${COOKIE}=${"marker".repeat(7)}x`, referer: "https://marker.example" };
    const query = queryOf({ ...marked, code_challenge: challenge, scope: "marker-scope" });
    const { reference } = redirectOf(await ask(query, { headers }));
    expect(lineFor()).toMatchObject({
      event: "request",
      method: "GET",
      route: authorize.path,
      status: 303,
      reference,
      reason: "scope_incomplete",
    });
    for (const text of ["marker", challenge, "shop.example", f.realmId, f.store.store.id])
      expect(JSON.stringify(lineFor())).not.toContain(text);
  });

  test("has a page's reference and problem", async () => {
    const answer = await f.begin(newBrowser(), { ...marked, redirect_uri: "https://marker.example" });
    expect(lineFor()).toMatchObject({
      status: 400,
      reference: referenceOnPage(answer),
      problems: ["redirect_uri_unregistered"],
    });
    expect(JSON.stringify(lineFor())).not.toContain("marker");
  });

  test("has nothing of the query, the cookie or the state when a sign-on begins", async () => {
    const browser = newBrowser();
    const begun = await f.begin(browser, marked);
    const line = JSON.stringify(lineFor());
    const secrets = ["state", "nonce", "code_challenge"].map((name) => atIdp(begun).get(name) ?? "");
    for (const text of [...secrets, browser.cookie ?? "", "marker", PUBLIC_URL])
      expect(line).not.toContain(text);
  });
});
