import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { checkProfile } from "../../src/contract/oidc-profiles.ts";
import { authorize, authorizeByForm } from "../../src/contract/sign-on.ts";
import { type Answer, call } from "../support/call.ts";
import { type Browser, createFederation, type Federation, newPkce, SHOP } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";

/** A realm with several identity providers, and a request that names none: the shopper chooses on a page. */

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

const nobody = (): Browser => ({ cookie: undefined });
const ids = () => ({ store: f.store.store.id, realm: f.realmId });
const choose = (changes: Changes = {}, browser = nobody()) =>
  f.begin(browser, { profile: undefined, ...changes });
const locationOf = (answer: Answer) => answer.headers.get("location") ?? "";
const toldBy = (answer: Answer) => Object.fromEntries(new URL(locationOf(answer)).searchParams);

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

/** As a browser presses a button: the form's own address with its query, and the button in the body. */
async function press(action: string, profile: string, browser: Browser): Promise<Answer> {
  const query = action.slice(action.indexOf("?") + 1);
  const answer = await call(f.latchkey.app, authorizeByForm, { ids: ids(), query, form: { profile } });
  browser.cookie ??= /=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
  return answer;
}

test("names are text, never markup (A73)", async () => {
  const names = ['<b>"x"</b>', "<script>alert(1)</script>", "A & B's", "&lt;already&gt;"];
  for (const name of names) await f.addProfile({ name });
  const answer = await choose();
  expect(answer.status).toBe(200);
  expect(labelsOf(answer).map(decode)).toEqual(["Hostile", ...names]);
  expect(answer.body).toContain("&lt;b&gt;&quot;x&quot;&lt;/b&gt;");
  expect(answer.body).not.toMatch(/<b>|<script/);
});

test("each button sends the whole request to its own provider, to the letter", async () => {
  const second = await f.addProfile({ name: "Second" });
  // A form's field would make \r\n of each line break.
  const state = `<"'&>\n\r\t ${"ü".repeat(10)}`;
  const pkce = newPkce();
  const answer = await choose({ state, prompt: "login", code_challenge: pkce.challenge });
  expect(answer.headers.has("set-cookie")).toBe(false);
  expect(labelsOf(answer)).toEqual(["Hostile", "Second"]);
  expect(actionOf(answer).startsWith(`${f.issuer}/authorize?`)).toBe(true);
  for (const [index, { profile }] of buttonsOf(answer).entries()) {
    const browser = nobody();
    const begun = await press(actionOf(answer), profile, browser);
    const sent = toldBy(begun);
    expect(sent.redirect_uri).toBe(`${f.issuer}/profiles/${[f.profileId, second][index]}/callback`);
    expect(sent.prompt).toBe("login");
    const back = await f.comeBack(browser, idp.signIn(locationOf(begun)));
    expect(toldBy(back)).toMatchObject({ state, code: expect.stringMatching(/^lkac_/) });
    expect(locationOf(back).startsWith(`${SHOP}?`)).toBe(true);
    const { code = "" } = toldBy(back);
    expect((await f.redeem({ code, pkce })).status).toBe(200);
  }
});

test("only what can be used is offered", async () => {
  await f.addProfile({ name: "Off", enabled: false });
  await f.addProfile({ name: "Direct", flow: "direct", client_id: "customers" });
  expect(locationOf(await choose()).startsWith(`${idp.origin}/authorize?`)).toBe(true);
  await f.addProfile({ name: "Second" });
  expect(labelsOf(await choose())).toEqual(["Hostile", "Second"]);
});

test("one that is down says so, and nobody is sent there", async () => {
  idp.hooks.answer = { "/.well-known/openid-configuration": (_, r) => void r.writeHead(500).end() };
  for (let failure = 0; failure < 5; failure++)
    await f.store.call(checkProfile, { ids: { realm: f.realmId, id: f.profileId } });
  idp.hooks = {};
  await f.addProfile({ name: "Second" });
  const answer = await choose();
  expect(labelsOf(answer).map((label) => label.includes("Not responding"))).toEqual([true, false]);
  const [down] = buttonsOf(answer);
  const pressed = await press(actionOf(answer), down?.profile ?? "", nobody());
  expect(toldBy(pressed)).toMatchObject({ error: "temporarily_unavailable", reason: "idp_unavailable" });
});

test("a bad request is told to the storefront before anybody has chosen", async () => {
  await f.addProfile({ name: "Second" });
  expect(toldBy(await choose({ response_type: "token" }))).toMatchObject({
    reason: "response_type_unsupported",
  });
});

test("303 state_missing for a request by POST that no address can hold", async () => {
  await f.addProfile({ name: "Second" });
  const form = f.parameters({ profile: undefined, state: "ü".repeat(1400) });
  const answer = await call(f.latchkey.app, authorizeByForm, { ids: ids(), form });
  expect(toldBy(answer)).toMatchObject({ error: "invalid_request", reason: "state_missing" });
});

test("nothing is loaded, nothing leads elsewhere, and nothing of the query is outside of the form (R15)", async () => {
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

test("the form may lead to any address by https, and by http only to the realm's providers and the shop", async () => {
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
