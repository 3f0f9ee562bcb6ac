import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { checkProfile } from "../../src/contract/oidc-profiles.ts";
import { authorize, authorizeByForm } from "../../src/contract/sign-on.ts";
import { type Answer, call } from "../support/call.ts";
import { type Browser, createFederation, type Federation, newPkce, SHOP } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { locationOf, newBrowser } from "../support/redirects.ts";

/** The page of providers: for a realm with several profiles, and a request that names none. */

let idp: HostileIdp;
let f: Federation;
beforeAll(async () => {
  idp = await startHostileIdp();
});
afterAll(() => idp.close());
beforeEach(async () => {
  idp.hooks = {};
  f = await createFederation({ idp });
});
afterEach(() => f.close());

type Changes = Record<string, string | undefined>;

const ids = () => ({ store: f.store.store.id, realm: f.realmId });
const choose = (changes: Changes = {}, browser = newBrowser()) =>
  f.begin(browser, { profile: undefined, ...changes });
const parametersOf = (answer: Answer) => Object.fromEntries(new URL(locationOf(answer)).searchParams);

const decode = (html: string) =>
  html
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
const actionOf = ({ body }: Answer) => decode(/<form method="post" action="([^"]*)">/.exec(body)?.[1] ?? "");
const buttonsOf = ({ body }: Answer) =>
  [...body.matchAll(/<button name="profile" value="([^"]*)">(.*?)<\/button>/g)].map(
    ([, profile = "", label = ""]) => ({ profile, label: label.replaceAll(/<\/?bdi>/g, "") }),
  );
const labelsOf = (answer: Answer) => buttonsOf(answer).map(({ label }) => label);

/** Presses a button of the page: the form's action with its query, and the button in the body. */
async function press(action: string, profile: string, browser: Browser): Promise<Answer> {
  const query = action.slice(action.indexOf("?") + 1);
  const answer = await call(f.latchkey.app, authorizeByForm, { ids: ids(), query, form: { profile } });
  browser.cookie ??= /=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
  return answer;
}

test("names on the page of providers are text, never markup (A73)", async () => {
  const names = ['<b>"x"</b>', "<script>alert(1)</script>", "A & B's", "&lt;already&gt;"];
  for (const name of names) await f.addProfile({ name });
  const answer = await choose();
  expect(answer.status).toBe(200);
  expect(labelsOf(answer).map(decode)).toEqual(["Hostile", ...names]);
  expect(answer.body).toContain("&lt;b&gt;&quot;x&quot;&lt;/b&gt;");
  expect(answer.body).not.toMatch(/<b>|<script/);
});

test("each button sends the whole request unchanged to its provider", async () => {
  const second = await f.addProfile({ name: "Second" });
  // A hidden form field would turn each line break into \r\n.
  const state = `<"'&>\n\r\t ${"ü".repeat(10)}`;
  const pkce = newPkce();
  const answer = await choose({ state, prompt: "login", code_challenge: pkce.challenge });
  expect(answer.headers.has("set-cookie")).toBe(false);
  expect(labelsOf(answer)).toEqual(["Hostile", "Second"]);
  expect(actionOf(answer).startsWith(`${f.issuer}/authorize?`)).toBe(true);
  for (const [index, { profile }] of buttonsOf(answer).entries()) {
    const browser = newBrowser();
    const begun = await press(actionOf(answer), profile, browser);
    const sent = parametersOf(begun);
    expect(sent.redirect_uri).toBe(`${f.issuer}/profiles/${[f.profileId, second][index]}/callback`);
    expect(sent.prompt).toBe("login");
    const back = await f.comeBack(browser, idp.signIn(locationOf(begun)));
    expect(parametersOf(back)).toMatchObject({ state, code: expect.stringMatching(/^lkac_/) });
    expect(locationOf(back).startsWith(`${SHOP}?`)).toBe(true);
    const { code = "" } = parametersOf(back);
    expect((await f.redeem({ code, pkce })).status).toBe(200);
  }
});

test("the page has enabled, brokered profiles only", async () => {
  await f.addProfile({ name: "Off", enabled: false });
  await f.addProfile({ name: "Direct", flow: "direct", client_id: "customers" });
  expect(locationOf(await choose()).startsWith(`${idp.origin}/authorize?`)).toBe(true);
  await f.addProfile({ name: "Second" });
  expect(labelsOf(await choose())).toEqual(["Hostile", "Second"]);
});

test("a provider that is down is marked; its button leads back with temporarily_unavailable", async () => {
  idp.hooks.answer = { "/.well-known/openid-configuration": (_, r) => void r.writeHead(500).end() };
  for (let failure = 0; failure < 5; failure++)
    await f.store.call(checkProfile, { ids: { realm: f.realmId, id: f.profileId } });
  idp.hooks = {};
  await f.addProfile({ name: "Second" });
  const answer = await choose();
  expect(labelsOf(answer).map((label) => label.includes("Not responding"))).toEqual([true, false]);
  const [down] = buttonsOf(answer);
  const pressed = await press(actionOf(answer), down?.profile ?? "", newBrowser());
  expect(parametersOf(pressed)).toMatchObject({
    error: "temporarily_unavailable",
    reason: "idp_unavailable",
  });
});

test("a faulty request is refused before the page is shown", async () => {
  await f.addProfile({ name: "Second" });
  expect(parametersOf(await choose({ response_type: "token" }))).toMatchObject({
    reason: "response_type_unsupported",
  });
});

test("the page of providers › 303 state_missing for a POST whose request does not fit into a URL", async () => {
  await f.addProfile({ name: "Second" });
  const form = f.parameters({ profile: undefined, state: "ü".repeat(1400) });
  const answer = await call(f.latchkey.app, authorizeByForm, { ids: ids(), form });
  expect(parametersOf(answer)).toMatchObject({ error: "invalid_request", reason: "state_missing" });
});

test("the page loads nothing, links nowhere, and has the query inside the form's action only (R15)", async () => {
  await f.addProfile({ name: "Second" });
  const query = `${new URLSearchParams(f.parameters({ profile: undefined }))}&"><evil>=1&'onclick='evil`;
  const { body } = await call(f.latchkey.app, authorize, { ids: ids(), query });
  expect(body).not.toMatch(/<evil|onclick='evil/);
  const targets = [...body.matchAll(/(?:href|src|action)="([^"]*)"/g)].map((match) => match[1] ?? "");
  expect(targets).toHaveLength(2);
  for (const target of targets)
    expect(target === "data:," || target.startsWith(`${f.issuer}/authorize?`)).toBe(true);
  expect(body.replaceAll(/action="[^"]*"/g, "")).not.toContain("evil");
});

test("form-action allows https, and http for the realm's providers and the shop only", async () => {
  const formActionOf = (answer: Answer) =>
    /form-action ([^;]*)/.exec(answer.headers.get("content-security-policy") ?? "")?.[1];
  const local = "http://localhost:3000/cb";
  await f.addProfile({ name: "Second" });
  await f.changeRealm({ redirect_uris: [SHOP, local] });
  expect(formActionOf(await choose())).toBe(`https: ${idp.origin}`);
  expect(formActionOf(await choose({ redirect_uri: local }))).toBe(
    `https: http://localhost:3000 ${idp.origin}`,
  );
  expect(formActionOf(await choose({ client_id: "unknown" }))).toBe("'none'");
});
