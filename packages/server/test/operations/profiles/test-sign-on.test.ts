import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listEvents } from "../../../src/contract/events.ts";
import { checkProfile, testSignOn, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { beginTest } from "../../../src/contract/sign-on.ts";
import { signOnReasonEntry } from "../../../src/contract/sign-on-reasons.ts";
import { getSignOnStatistics } from "../../../src/contract/sign-ons.ts";
import { LANGUAGES } from "../../../src/http/pages/language.ts";
import { setupWords } from "../../../src/http/pages/setup-words/all.ts";
import { testWords } from "../../../src/http/pages/test-words/all.ts";
import { pageWords } from "../../../src/http/pages/words/all.ts";
import { endRestoredRights } from "../../../src/restore/end-rights.ts";
import { type Answer, call } from "../../support/call.ts";
import { type Browser, COOKIE, createFederation, type Federation } from "../../support/federation.ts";
import { createMembersSide } from "../../support/members.ts";

/** A test sign-on of an administrator: its result is a page and a record, and no customer (wire 19). */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const at = () => ({ realm: f.realmId, id: f.profileId });
const offer = async () =>
  (await f.store.call(testSignOn, { ids: at() })).body.data as {
    url: string;
    expires_at: string;
    reference: string;
  };

async function visit(browser: Browser, url: string, changes: Record<string, string> = {}): Promise<Answer> {
  const query = url.slice(url.indexOf("?") + 1);
  const ids = { store: f.store.store.id, realm: f.realmId, profile: f.profileId, ...changes };
  const headers: Record<string, string> =
    browser.cookie === undefined ? {} : { cookie: `${COOKIE}=${browser.cookie}` };
  const answer = await call(f.latchkey.app, beginTest, { ids, query, headers });
  const given = /^[^=]+=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
  if (given !== undefined) browser.cookie = given;
  return answer;
}

/** Follows a test from its address to its page. */
async function run(
  language?: string,
): Promise<{ browser: Browser; back: string; page: Answer; reference: string }> {
  const browser: Browser = { cookie: undefined, ...(language !== undefined && { language }) };
  const { url, reference } = await offer();
  const begun = await visit(browser, url);
  const back = f.idp.signIn(begun.headers.get("location") ?? "");
  return { browser, back, page: await f.comeBack(browser, back), reference };
}

const textOf = (page: Answer) =>
  page.body
    .replaceAll(/<style>.*<\/style>/gs, "")
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ");
const made = async () => {
  const { db } = f.latchkey.storage;
  const tables = ["customers", "customer_identities", "customer_tokens"] as const;
  const found = [];
  for (const table of tables) found.push(...(await db.selectFrom(table).selectAll().execute()));
  const codes = db.selectFrom("sign_on_attempts").selectAll().where("code_expires_at", "is not", null);
  return [...found, ...(await codes.execute())];
};

describe("a test sign-on", () => {
  test("ends on a page with every check, timings and requirements, and in a record", async () => {
    const { page, reference } = await run();
    expect(page.status).toBe(200);
    const text = textOf(page);
    expect(text).toContain("Test passed");
    expect(text).toContain("ada@shop.example (verified by the provider)");
    for (const id of ["R4", "R6", "R7", "R9"]) expect(text).toContain(`${id} met`);
    expect(text).toContain("R8 not known yet");
    expect(text).toMatch(new RegExp(`id_token.iss Expected ${f.idp.issuer} Found ${f.idp.issuer}`));
    expect(text).toMatch(/Token endpoint \d+ ms/);
    expect(page.headers.get("cache-control")).toBe("no-store");
    // The reference that the offer of the test has announced.
    expect(/Reference <strong>([^<]+)/.exec(page.body)?.[1]).toBe(reference);
    expect(await f.recordOf(reference)).toMatchObject({
      test: true,
      outcome: "tested",
      reason: null,
      customer_id: null,
    });
  });

  test("makes no customer, identity, code, token or event, and is not counted", async () => {
    await run();
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    await run();
    await f.latchkey.app.tidy();
    expect(await made()).toEqual([]);
    const { data: events } = (
      await f.store.call(listEvents, { query: "types=sign_on.*,customer.*,customer_token.*" })
    ).body;
    expect(events).toEqual([]);
    expect((await f.store.call(getSignOnStatistics)).body.data).toEqual([]);
    expect(await f.records()).toHaveLength(2);
  });

  test("that fails shows the reason, the remedy and the missed requirement", async () => {
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: ["another", "<b>third</b>"] });
    const { page } = await run();
    const text = textOf(page);
    expect(text).toContain("Test failed");
    expect(text).toContain("R7 not met");
    expect(text).toContain("R4 not known yet");
    expect(page.body).not.toContain("<b>third");
    expect(page.body).toContain("&lt;b&gt;third");
    const reference = /Reference <strong>([^<]+)/.exec(page.body)?.[1] ?? "none";
    expect(await f.recordOf(reference)).toMatchObject({
      test: true,
      outcome: "failed",
      reason: "id_token.aud",
    });
    f.idp.hooks.claims = (claims) => claims;
  });

  test("that fails at the provider shows the provider's error as text", async () => {
    f.idp.hooks = {
      redirect: ({ state = "" }) => ({ state, error: "access_denied", error_description: "<i>not</i> you" }),
    };
    const { page } = await run();
    expect(textOf(page)).toContain("Answer of the provider From authorization endpoint error access_denied");
    expect(page.body).toContain("&lt;i&gt;not&lt;/i&gt; you");
    f.idp.hooks = {
      answer: {
        "/token": (_, response) =>
          response
            .writeHead(401, { "Content-Type": "application/json" })
            .end('{"error":"invalid_client","error_description":"AADSTS7000215"}'),
      },
    };
    expect(textOf((await run()).page)).toContain(
      "Answer of the provider From token endpoint HTTP status 401 error invalid_client error_description AADSTS7000215",
    );
    f.idp.hooks = {};
  });

  test("shows the refusal that the realm's rules would give", async () => {
    await f.store.call(updateProfile, {
      ids: at(),
      json: { data: { type: "oidc-profile", provisioning: "existing" } },
    });
    const text = textOf((await run()).page);
    expect(text).toContain("Test failed");
    expect(text).toContain("ada@shop.example");
    expect(text).toContain("R7 met");
  });

  test("in the members' realm shows a member's result, whether the person is a customer or not", async () => {
    const side = await createMembersSide(f);
    const ofMembers = { realm: side.realmId, profile: side.profileId };
    const tested = async (): Promise<string> => {
      const { body } = await f.store.call(testSignOn, { ids: { realm: side.realmId, id: side.profileId } });
      const browser: Browser = { cookie: undefined };
      const begun = await visit(browser, body.data.url, ofMembers);
      return textOf(await f.comeBack(browser, f.idp.signIn(begun.headers.get("location") ?? "")));
    };
    expect(await tested()).toContain("This person is not a member of the store.");
    await side.invite("ada@shop.example", "support");
    expect(await tested()).toContain("Test passed This person would be signed in now.");
    f.idp.person = { ...f.idp.person, email_verified: false };
    expect(await tested()).toContain("member_email_unverified");
  });

  test("ends at once when the provider does not answer", async () => {
    const { url } = await offer();
    f.idp.hooks.answer = { "/token": (_, response) => void response.writeHead(503).end() };
    const browser: Browser = { cookie: undefined };
    const begun = await visit(browser, url);
    const page = await f.comeBack(browser, f.idp.signIn(begun.headers.get("location") ?? ""));
    expect(textOf(page)).toContain("token.unavailable");
  });

  test("ends on its page at once when it cannot begin", async () => {
    const { url } = await offer();
    await f.latchkey.storage.db.updateTable("oidc_profiles").set({ flow: "direct" }).execute();
    const page = await visit({ cookie: undefined }, url);
    expect(page.status).toBe(200);
    expect(textOf(page)).toContain("profile_disabled");
  });

  test("works for a disabled profile, and is evidence for the checks", async () => {
    await f.store.call(updateProfile, {
      ids: at(),
      json: { data: { type: "oidc-profile", enabled: false } },
    });
    f.latchkey.clock.advance(1000);
    expect(textOf((await run()).page)).toContain("Test passed");
    await f.latchkey.app.tidy();
    const { data } = (await f.store.call(checkProfile, { ids: at() })).body;
    expect(data.checks.find(({ id }: { id: string }) => id === "R7")).toMatchObject({ status: "met" });
  });

  test("422 for a profile of the direct flow", async () => {
    await f.latchkey.storage.db.updateTable("oidc_profiles").set({ flow: "direct" }).execute();
    const answer = await f.store.call(testSignOn, { ids: at() });
    expect([answer.status, answer.code]).toEqual([422, "test_sign_on_direct"]);
  });
});

describe.each(LANGUAGES)("the page of a test in %s", (language) => {
  const words = testWords[language];
  const { checks } = setupWords[language];

  test("has every heading, state and label in the browser's language, and no banner of the shop", async () => {
    await f.changeRealm({ logo_url: "https://cdn.example/logo.png" });
    const { page } = await run(language);
    expect(page.body).toContain(`<html lang="${language}">`);
    expect(page.headers.get("content-language")).toBe(language);
    expect(page.headers.get("vary")).toContain("Accept-Language");
    expect(page.headers.get("content-security-policy")).toContain("img-src data:;");
    for (const { heading } of [words.answer, words.requirements, words.checks, words.time])
      expect(page.body).toContain(`<h2>${heading}</h2>`);
    const text = textOf(page);
    expect(text).toContain(`✓ ${words.passed.heading} ${words.passed.text}`);
    expect(text).toContain(words.person.verified.replace("{email}", "ada@shop.example"));
    expect(text).toContain(`R7 ${checks.status.met}`);
    expect(text).toContain(`R8 ${checks.status.unknown}`);
    expect(text).toContain(`${words.checks.expected} ${f.idp.issuer} ${words.checks.found} ${f.idp.issuer}`);
    expect(text).toMatch(new RegExp(`${words.time.steps.token} \\d+ ms`));
    expect(text).toContain(pageWords[language].reference);
    expect(text).toContain(words.nothingCreated);
    expect(text).not.toMatch(/\{\w+\}|`|undefined/);
  });

  test("of a failed test marks the meaning and the remedy of the reason as English", async () => {
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    const { page } = await run(language);
    const { means } = signOnReasonEntry("id_token.aud");
    expect(textOf(page)).toContain(words.failed.heading);
    expect(page.body).toContain(`<p><span lang="en">${means.replaceAll("'", "&#39;")}</span></p>`);
    expect(page.body).toContain(`R7 ${checks.status.not_met}</dt>`);
    expect(textOf(page)).toContain(words.requirements.notReached);
  });
});

test("the page of a test is in the language that the browser prefers, otherwise in English", async () => {
  const { page } = await run("it, de-AT;q=0.8, en;q=0.5");
  expect(page.body).toContain('<html lang="de">');
  expect((await run()).page.body).toContain('<html lang="en">');
});

describe("the address of a test", () => {
  test("works once", async () => {
    const { url } = await offer();
    expect((await visit({ cookie: undefined }, url)).status).toBe(303);
    const second = await visit({ cookie: undefined }, url);
    expect([second.status, second.code]).toEqual([400, "test_sign_on_over"]);
    expect(second.body).toContain("This test link is no longer valid");
  });

  test("many visits at once: one goes on", async () => {
    const { url } = await offer();
    const answers = await Promise.all(Array.from({ length: 8 }, () => visit({ cookie: undefined }, url)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  test("works for ten minutes, at its own profile, unchanged", async () => {
    const { url, expires_at } = await offer();
    expect(Date.parse(expires_at) - f.latchkey.clock.now()).toBe(600_000);
    const other = await f.addProfile({ name: "Other" });
    expect((await visit({ cookie: undefined }, url, { profile: other })).code).toBe("test_sign_on_over");
    expect((await visit({ cookie: undefined }, `${url}x`)).code).toBe("test_sign_on_over");
    expect((await visit({ cookie: undefined }, "?ticket=")).code).toBe("test_sign_on_over");
    const gone = await visit({ cookie: undefined }, url, { profile: crypto.randomUUID() });
    expect([gone.status, gone.code]).toEqual([404, "profile_not_found"]);
    f.latchkey.clock.advance(600_000);
    expect((await visit({ cookie: undefined }, url)).code).toBe("test_sign_on_over");
  });
});

describe("the callback of a test", () => {
  test("counts once, in its own browser, within ten minutes", async () => {
    const { browser, back } = await run();
    expect((await f.comeBack(browser, back)).code).toBe("test_sign_on_over");
    const mine: Browser = { cookie: undefined };
    const begun = await visit(mine, (await offer()).url);
    const returning = f.idp.signIn(begun.headers.get("location") ?? "");
    expect((await f.comeBack({ cookie: undefined }, returning)).code).toBe("browser_changed");
    f.latchkey.clock.advance(600_000);
    expect((await f.comeBack(mine, returning)).code).toBe("attempt_expired");
    expect(await made()).toEqual([]);
  });

  test("is refused with two states (R5), and has expired after a restore (T54)", async () => {
    const browser: Browser = { cookie: undefined };
    const begun = await visit(browser, (await offer()).url);
    const back = f.idp.signIn(begun.headers.get("location") ?? "");
    const state = new URL(back).searchParams.get("state") ?? "";
    expect((await f.comeBack(browser, `${back}&state=${encodeURIComponent(state)}`)).code).toBe(
      "attempt_invalid",
    );
    await endRestoredRights(f.latchkey);
    f.latchkey.storage.changes.announce(f.store.store.id);
    expect((await f.comeBack(browser, back)).code).toBe("attempt_expired");
  });

  test("cannot finish a sign-on, nor a sign-on's callback a test", async () => {
    const browser: Browser = { cookie: undefined };
    const test = new URL((await visit(browser, (await offer()).url)).headers.get("location") ?? "");
    const real = new URL((await f.begin(browser)).headers.get("location") ?? "");
    const ticket = real.searchParams.get("state") ?? "";
    expect((await visit(browser, `?ticket=${encodeURIComponent(ticket)}`)).code).toBe("test_sign_on_over");
    // The code and the nonce of one with the state of the other.
    const back = new URL(f.idp.signIn(real.href));
    back.searchParams.set("state", test.searchParams.get("state") ?? "");
    const crossed = await f.comeBack(browser, back.href);
    expect(crossed.status).toBe(200);
    expect(textOf(crossed)).toContain("Test failed");
    const other = new URL(
      f.idp.signIn((await visit(browser, (await offer()).url)).headers.get("location") ?? ""),
    );
    other.searchParams.set(
      "state",
      new URL((await f.begin(browser)).headers.get("location") ?? "").searchParams.get("state") ?? "",
    );
    const refused = await f.comeBack(browser, other.href);
    expect(refused.headers.get("location")).toContain("error=");
    expect(await made()).toEqual([]);
  });
});
