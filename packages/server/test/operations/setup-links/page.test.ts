import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { checkSetup } from "../../../src/contract/setup-links.ts";
import { LANGUAGES } from "../../../src/http/pages/language.ts";
import { setupWords } from "../../../src/http/pages/setup-words/all.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { type Call, call } from "../../support/call.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { makeLink, textOf, visit } from "./links.ts";

/** The page of a set-up link: what to register at the provider, and which requirements are met (wire 27). */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const at = () => ({ realm: f.realmId, id: f.profileId });
const link = () => makeLink(f.store, at());
const check = (token: string, request: Call = {}) =>
  call(f.latchkey.app, checkSetup, { ids: { token }, form: {}, ...request });
const change = (data: object) =>
  f.store.call(updateProfile, { ids: at(), json: { data: { type: "oidc-profile", ...data } } });
/** A profile of a provider that misses a requirement can be saved while it is disabled. */
const unfit = async () => {
  f.idp.hooks.discovery = (document) => ({
    ...document,
    token_endpoint_auth_methods_supported: ["private_key_jwt"],
  });
  const json = {
    data: {
      type: "oidc-profile",
      name: "Not ready",
      discovery_url: f.idp.discoveryUrl,
      client_id: "c",
      enabled: false,
    },
  };
  const { body } = await f.store.call(createProfile, { ids: { realm: f.realmId }, json });
  f.idp.journal.length = 0;
  return makeLink(f.store, { realm: f.realmId, id: body.data.id });
};

describe("the page of a set-up link", () => {
  test("has the addresses to register, methods, scopes and claims, and until when it works", async () => {
    const { token } = await link();
    const page = await visit(f.latchkey, token);
    const text = textOf(page);
    const signOn = `${PUBLIC_URL}/sign-on/stores/${f.store.store.id}/realms/${f.realmId}/profiles/${f.profileId}`;
    expect(text).toContain("Register Test store at your identity provider");
    expect(text).toContain(`Redirect URI ${signOn}/callback `);
    expect(text).toContain(`Back-channel logout URI ${signOn}/backchannel-logout `);
    expect(text).not.toContain("signed-out");
    expect(text).toMatch(/Flow Authorization Code Flow \( code \), PKCE S256/);
    expect(text).toContain("Client authentication client_secret_basic");
    expect(text).toContain("Scopes openid email Also allow profile");
    expect(text).toContain(`Client ID ${f.idp.clientId} `);
    expect(page.body).toMatch(/This link works until <time datetime="\d{4}-\d\d-\d\dT[\d:.]+Z">/);
  });

  test("has the post-logout redirect URI where shoppers who sign out are sent to the provider", async () => {
    await change({ propagate_logout: true });
    const { token } = await link();
    expect(textOf(await visit(f.latchkey, token))).toMatch(/Post-logout redirect URI \S+\/signed-out /);
  });

  test("of a direct profile has the storefront's redirect URIs", async () => {
    const realm = await f.latchkey.storage.db
      .selectFrom("authentication_realms")
      .select("redirect_uris")
      .where("id", "=", f.realmId)
      .executeTakeFirstOrThrow();
    await f.latchkey.storage.db.updateTable("oidc_profiles").set({ flow: "direct" }).execute();
    const { token } = await link();
    const text = textOf(await visit(f.latchkey, token));
    for (const uri of JSON.parse(realm.redirect_uris)) expect(text).toContain(uri);
    expect(text).not.toContain("/callback ");
  });

  test("asks the provider nothing, and shows what was found when its document was accepted", async () => {
    const { token } = await link();
    f.idp.journal.length = 0;
    const text = textOf(await visit(f.latchkey, token));
    for (const id of ["R1", "R2", "R3", "R5"]) expect(text).toContain(`${id} met`);
    for (const id of ["R4", "R6", "R7", "R8", "R9"]) expect(text).toContain(`${id} not known yet`);
    expect(f.idp.journal).toEqual([]);
  });

  test("shows what a sign-on has shown, within a minute and without its evidence", async () => {
    const { token } = await link();
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: ["ada@shop.example", f.idp.clientId] });
    await f.signOn();
    await f.latchkey.app.tidy();
    const text = textOf(await visit(f.latchkey, token));
    expect(text).toContain("R7 not met");
    expect(text).toContain("Remove all other audiences from the ID token.");
    expect(text).not.toContain("ada@");
    f.idp.hooks = {};
    f.latchkey.clock.advance(61_000);
    await f.signOn();
    await f.latchkey.app.tidy();
    const after = textOf(await visit(f.latchkey, token));
    for (const id of ["R4", "R6", "R7"]) expect(after).toContain(`${id} met`);
  });

  test("before any check says so; a check shows what is missing and what to do", async () => {
    const { token } = await unfit();
    const before = textOf(await visit(f.latchkey, token));
    expect(before).toContain("Not checked yet.");
    expect(before).toContain("R2 not known yet");
    expect(f.idp.journal).toEqual([]);
    const checked = await check(token);
    expect([checked.status, checked.headers.get("location")]).toEqual([
      303,
      `${PUBLIC_URL}/setup/${token}#checks`,
    ]);
    const after = textOf(await visit(f.latchkey, token));
    expect(after).toContain("R2 not met");
    expect(after).toContain("Allow client_secret_basic for this client.");
    expect(after).toContain("token_endpoint_auth_methods_supported does not list client_secret_basic.");
    expect(after).toContain("The next check is possible from ");
  });

  test("is checked at most once in five minutes for each link, also by requests at the same time", async () => {
    const { token } = await unfit();
    const asked = () => f.idp.asked("/.well-known/openid-configuration");
    await Promise.all([check(token), check(token), check(token)]);
    expect(asked()).toBe(1);
    f.idp.hooks = {};
    f.latchkey.clock.advance(299_000);
    await check(token);
    expect(asked()).toBe(1);
    f.latchkey.clock.advance(1000);
    await check(token);
    expect([asked(), textOf(await visit(f.latchkey, token)).includes("R2 met")]).toEqual([2, true]);
  });

  test("forgets a check of an address that the profile no longer has", async () => {
    const { token } = await unfit();
    await check(token);
    await f.latchkey.storage.db
      .updateTable("oidc_profiles")
      .set({ discovery_url: "https://elsewhere.example" })
      .execute();
    expect(textOf(await visit(f.latchkey, token))).toContain("R2 not known yet");
  });

  test("shows where a known provider's console has the settings", async () => {
    f.idp.hooks.discovery = (document) => ({
      ...document,
      authorization_endpoint: `${f.idp.origin}/realms/x/protocol/openid-connect/auth`,
    });
    const { token } = await link();
    await check(token);
    const text = textOf(await visit(f.latchkey, token));
    expect(text).toContain("Where to find the settings in Keycloak");
    expect(text).toContain("Redirect URI Clients → your client → Settings → Valid redirect URIs");
  });

  test("has no script and sends no address on: nothing of another site, no referrer, no cache, no search engine", async () => {
    const { token } = await link();
    await f.changeRealm({ logo_url: "https://cdn.example/logo.png" });
    const { headers, body } = await visit(f.latchkey, token);
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    });
    expect(headers.get("content-security-policy")).toContain("img-src data:;");
    expect(headers.get("content-security-policy")).toContain(`form-action ${PUBLIC_URL};`);
    expect(body).toContain('<meta name="robots" content="noindex">');
    expect(body).not.toMatch(/<(img|script|iframe|a) /);
    expect(headers.has("set-cookie")).toBe(false);
  });

  test("escapes names and values of the shop", async () => {
    await change({ name: "<b>Name</b>" });
    const { token } = await link();
    const { body } = await visit(f.latchkey, token);
    expect(body).toContain("<bdi>&lt;b&gt;Name&lt;/b&gt;</bdi>");
    expect(body).not.toContain("<b>Name");
  });

  test("has no secret", async () => {
    const { token } = await link();
    const { body } = await visit(f.latchkey, token);
    for (const secret of f.idp.clientSecrets) expect(body).not.toContain(secret);
  });
});

describe.each(LANGUAGES)("in %s", (language) => {
  const words = setupWords[language];
  const speaking = { headers: { "accept-language": language } };

  test("the page is in the reader's language, and ui_locales goes before the browser's", async () => {
    const { token } = await unfit();
    for (const request of [speaking, { query: `ui_locales=${language}` }]) {
      const page = await visit(f.latchkey, token, request);
      expect(page.body).toContain(`<html lang="${language}">`);
      expect(page.headers.get("content-language")).toBe(language);
      for (const heading of [words.values.heading, words.checks.heading])
        expect(page.body).toContain(`>${heading}</h2>`);
      // No word for a value is left in the page.
      expect(textOf(page)).not.toMatch(/\{\w+\}|`|undefined/);
    }
  });

  test("every requirement that is not met says what to do", async () => {
    const { token } = await unfit();
    await check(token);
    const page = textOf(await visit(f.latchkey, token, speaking));
    expect(page).toContain(`R2 ${words.checks.status.not_met}`);
    for (const requirement of Object.values(words.requirements)) expect(requirement.remedy).toMatch(/[.。]$/);
    expect(page.replaceAll(" ", "")).toContain(
      words.requirements.R2.remedy.replaceAll("`", "").replaceAll(" ", ""),
    );
  });

  test("a link that does not work says what to do", async () => {
    const page = await visit(f.latchkey, "lksl_unknown", speaking);
    expect(page.status).toBe(404);
    expect(page.body).toContain(`<h1>${words.over.heading}</h1>`);
    expect(page.body).toContain(`<p>${words.over.remedy}</p>`);
  });
});

test("a check from the page keeps the language that the address asks for", async () => {
  const { token } = await link();
  const { headers } = await check(token, { query: "ui_locales=de" });
  expect(headers.get("location")).toBe(`${PUBLIC_URL}/setup/${token}?ui_locales=de#checks`);
});

describe("the form of a check", () => {
  test("400 when it breaks off, 413 when it is too large", async () => {
    const { token } = await link();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const brokenOff = new ReadableStream({
      start: (controller) => controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" })),
    });
    const broken = await call(f.latchkey.app, checkSetup, { ids: { token }, raw: brokenOff, headers });
    expect([broken.status, broken.code]).toEqual([400, "body_broke_off"]);
    const large = await check(token, { form: { junk: "x".repeat(17_000) } });
    expect([large.status, large.code]).toEqual([413, "body_too_large"]);
  });
});
