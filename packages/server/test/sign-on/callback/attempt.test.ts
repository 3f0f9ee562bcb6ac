import { describe, expect, test } from "vitest";
import { createProfile } from "../../../src/contract/oidc-profiles.ts";
import { createRealm } from "../../../src/contract/realms.ts";
import { callback } from "../../../src/contract/sign-on.ts";
import { newId } from "../../../src/lib/ids.ts";
import { call } from "../../support/call.ts";
import { COOKIE, SHOP } from "../../support/federation.ts";
import { newBrowser, REFERENCE, redirectOf, referenceOnPage } from "../../support/redirects.ts";
import {
  begin,
  callbackJourneys,
  codeRedirect,
  end,
  endAt,
  f,
  idp,
  refusalFor,
  rowsOf,
  STATE,
  second,
  withOwnFederation,
  withQuery,
} from "./journey.ts";

/** A callback must match its sign-on: the state, the path, the browser, and ten minutes. */

callbackJourneys();

describe("the state of a callback", () => {
  const states: [string, (state: string) => string | undefined][] = [
    ["a state with its last letter changed (N90)", (s) => s.slice(0, -1) + (s.endsWith("A") ? "B" : "A")],
    [
      "a state with a letter changed in its middle (N90)",
      (s) => `${s.slice(0, 60)}${s[60] === "A" ? "B" : "A"}${s.slice(61)}`,
    ],
    ["a state that was cut short (N90)", (s) => s.slice(0, -4)],
    ["a state that was added to (N90)", (s) => `${s}AAAA`],
    ["a state of another master key (N90)", (s) => `00000000${s.slice(8)}`],
    ["a state in capitals (N90)", (s) => s.toUpperCase()],
    ["a state with a space behind it (N90)", (s) => `${s} `],
    ["the storefront's own state (N90)", () => STATE],
    ["no state (N91, A23)", () => undefined],
    ["an empty state (N91)", () => ""],
    ["a state that is markup (A73)", () => "<script>alert('evil')</script>"],
    ["a state of 7 KB", () => "e".repeat(7000)],
  ];

  test.each(states)("400 for %s", async (_, change) => {
    const begun = await begin();
    const back = withQuery(begun.back, (query) => {
      const changed = change(query.get("state") ?? "");
      query.delete("state");
      if (changed !== undefined) query.set("state", changed);
    });
    const answer = await end({ ...begun, back });
    expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    expect(answer.body).not.toContain("evil");
    expect(idp.asked("/token")).toBe(0);
    expect(await f.records()).toEqual([]);
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });

  test("400 for two states, in either order (R5)", async () => {
    const begun = await begin();
    const { state = "" } = Object.fromEntries(new URLSearchParams(begun.back.split("?")[1]));
    for (const back of [`${begun.back}&state=${state}`, begun.back.replace("?", "?state=evil&")])
      expect((await end({ ...begun, back })).code).toBe("attempt_invalid");
    expect(idp.asked("/token")).toBe(0);
  });

  test("400 without any parameter, and for an error or a code without a state", async () => {
    for (const query of ["", "error=access_denied", "code=x"]) {
      const answer = await f.comeBack(newBrowser(), `${f.callbackUrl}?${query}`);
      expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    }
  });

  test("404 for an unknown realm; 400 for an unknown profile", async () => {
    const begun = await begin();
    expect((await endAt(f.latchkey.app, begun, { realm: newId() })).code).toBe("realm_not_found");
    expect((await endAt(f.latchkey.app, begun, { store: newId() })).code).toBe("realm_not_found");
    expect((await endAt(f.latchkey.app, begun, { profile: "x" })).code).toBe("attempt_invalid");
    expect((await endAt(f.latchkey.app, begun, { profile: newId() })).code).toBe("attempt_invalid");
  });

  test("405 for POST: the callback takes its parameters from the query", async () => {
    const { back, browser } = await begin();
    const [path = "", body = ""] = back.split("?");
    const response = await f.latchkey.app.fetch(
      new Request(path, {
        method: "POST",
        body,
        headers: {
          cookie: `${COOKIE}=${browser.cookie}`,
          "content-type": "application/x-www-form-urlencoded",
        },
      }),
    );
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"]);
    expect(idp.asked("/token")).toBe(0);
  });
});

describe("the path of a callback must be the one that the sign-on began for (N95, A20, A21, R82)", () => {
  withOwnFederation();

  test("400 at another profile of the realm, even one of the same provider", async () => {
    const twin = await f.addProfile();
    const other = await f.addProfile({ discovery_url: second.discoveryUrl });
    idp.journal.length = 0;
    second.journal.length = 0;
    const begun = await begin();
    for (const profile of [twin, other]) {
      const answer = await endAt(f.latchkey.app, begun, { profile });
      expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    }
    expect([idp.asked("/token"), second.asked("/token")]).toEqual([0, 0]);
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });

  test("400 at another realm or another store, even with the same provider and redirect URI", async () => {
    const begun = await begin();
    const other = await f.latchkey.createStore(10_000);
    for (const store of [f.store, other]) {
      const realm = { type: "authentication-realm", name: "Other", redirect_uris: [SHOP] };
      const made = await store.call(createRealm, { json: { data: realm } });
      const profile = {
        type: "oidc-profile",
        name: "Other",
        discovery_url: idp.discoveryUrl,
        client_id: idp.clientId,
        client_secret: "s",
      };
      const ids = { realm: made.body.data.id };
      const profileId = (await store.call(createProfile, { ids, json: { data: profile } })).body.data.id;
      for (const profileIn of [profileId, f.profileId]) {
        const at = { store: store.store.id, realm: made.body.data.id, profile: profileIn };
        expect((await endAt(f.latchkey.app, begun, at)).code).toBe("attempt_invalid");
      }
    }
    expect(idp.asked("/token")).toBe(0);
  });

  test("a code of another provider goes to the sign-on's own provider only (R79)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const [honest, other] = [await begin(), await begin(newBrowser(), { profile }, second)];
    const stolen = new URLSearchParams(other.back.split("?")[1]).get("code") ?? "";
    const back = withQuery(honest.back, (query) => query.set("code", stolen));
    expect(redirectOf(await end({ ...honest, back })).error).toBe("server_error");
    expect([idp.asked("/token"), second.asked("/token")]).toEqual([1, 0]);
  });
});

describe("the browser of a callback must be the one that the sign-on began in (N96, A22, A30, R83)", () => {
  const cookies: [string, (own: string, stranger: string) => string | undefined][] = [
    ["no cookie", () => undefined],
    ["the cookie of another browser", (_, stranger) => `${COOKIE}=${stranger}`],
    ["the cookie with a letter changed", (own) => `${COOKIE}=${own.slice(1)}_`],
    ["the cookie cut short", (own) => `${COOKIE}=${own.slice(1)}`],
    ["an empty cookie", () => `${COOKIE}=`],
    ["the cookie twice", (own) => `${COOKIE}=${own}; ${COOKIE}=${own}`],
    ["the cookie beside another browser's", (own, stranger) => `${COOKIE}=${stranger}; ${COOKIE}=${own}`],
    ["the cookie under its plain name", (own) => `latchkey=${own}`],
    ["the cookie in quotes", (own) => `${COOKIE}="${own}"`],
  ];

  test.each(cookies)("400 browser_changed with %s", async (_, cookieOf) => {
    const stranger = newBrowser();
    await f.begin(stranger);
    const begun = await begin();
    const cookie = cookieOf(begun.browser.cookie ?? "", stranger.cookie ?? "");
    const answer = await call(f.latchkey.app, callback, {
      ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
      query: begun.back.slice(begun.back.indexOf("?") + 1),
      headers: cookie === undefined ? {} : { cookie },
    });
    expect([answer.status, answer.code]).toEqual([400, "browser_changed"]);
    expect(referenceOnPage(answer)).toMatch(REFERENCE);
    expect(idp.asked("/token")).toBe(0);
    expect(await rowsOf("sign_on_attempts")).toEqual([]);
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });

  test("a browser may finish several tabs in any order", async () => {
    const browser = newBrowser();
    const tabs = [];
    for (const state of ["first", "second", "third"]) tabs.push(await begin(browser, { state }));
    const answers = [];
    for (const tab of tabs.reverse()) answers.push(redirectOf(await end(tab)));
    expect(answers.map(({ state }) => state)).toEqual(["third", "second", "first"]);
    expect(new Set(answers.map(({ code }) => code)).size).toBe(3);
  });

  test("400 for an attacker's callback in the victim's browser, and for the victim's in the attacker's", async () => {
    const [attacker, victim] = [await begin(), await begin()];
    expect((await end({ browser: victim.browser, back: attacker.back })).code).toBe("browser_changed");
    expect((await end({ browser: attacker.browser, back: victim.back })).code).toBe("browser_changed");
    expect(idp.asked("/token")).toBe(0);
  });

  test("the provider refuses an attacker's code with the victim's state: the verifier is wrong (A23, R77)", async () => {
    const [attacker, victim] = [await begin(), await begin()];
    const code = new URLSearchParams(attacker.back.split("?")[1]).get("code") ?? "";
    const back = withQuery(victim.back, (query) => query.set("code", code));
    expect(redirectOf(await end({ ...victim, back }))).toEqual(refusalFor("token.refused"));
  });
});

describe("a sign-on lasts ten minutes", () => {
  withOwnFederation();

  test.each([
    ["9:59 minutes", 599_000],
    ["9:59.999 minutes", 599_999],
  ])("a callback after %s is in time (N100)", async (_, waitMs) => {
    const begun = await begin();
    f.latchkey.clock.advance(waitMs);
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });

  test.each([
    ["10:00 minutes", 600_000],
    ["an hour", 3_500_000],
  ])("400 after %s, with a page that says to sign in again (N100)", async (_, waitMs) => {
    const begun = await begin();
    f.latchkey.clock.advance(waitMs);
    const answer = await end(begun);
    expect([answer.status, answer.code]).toEqual([400, "attempt_expired"]);
    expect(answer.body).toContain("sign in again");
    expect(idp.asked("/token")).toBe(0);
    const record = await f.recordOf(referenceOnPage(answer));
    expect(record).toMatchObject({ outcome: "failed", reason: "attempt_expired", error: null });
    expect(await rowsOf("sign_on_attempts")).toEqual([]);
  });
});
