import { createHash, randomBytes } from "node:crypto";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { createProfile } from "../../src/contract/oidc-profiles.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { getAuthenticationSettings, updateRealm } from "../../src/contract/realms.ts";
import { authorize, callback } from "../../src/contract/sign-on.ts";
import { getSignOn, listSignOns } from "../../src/contract/sign-ons.ts";
import { createTestApp, PUBLIC_URL, type TestApp, type TestStore } from "./app.ts";
import { type Answer, type Call, call } from "./call.ts";
import { type HostileIdp, startHostileIdp } from "./hostile-idp.ts";

/** Storefront, service and identity provider in one process, and the steps of a shopper's browser. */

export const SHOP = "https://shop.example/signed-in";
export const COOKIE = "__Host-latchkey";

/** `peer`: the address of the sender. `language`: the Accept-Language header. */
export type Browser = { cookie: string | undefined; peer?: string; language?: string };
type Pkce = { verifier: string; challenge: string };

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export type Federation = {
  latchkey: TestApp;
  store: TestStore;
  idp: HostileIdp;
  realmId: string;
  profileId: string;
  issuer: string;
  implicit: string;
  /** The callback that the identity provider has for the service. */
  callbackUrl: string;
  addProfile(data?: object, realmId?: string): Promise<string>;
  changeRealm(data: object): Promise<void>;
  /** The parameters of a valid request; a test changes some. `undefined` leaves one out. */
  parameters(changes?: Record<string, string | undefined>): Record<string, string>;
  begin(browser: Browser, changes?: Record<string, string | undefined>): Promise<Answer>;
  comeBack(browser: Browser, url: string): Promise<Answer>;
  /** From the start to the storefront's redirect URI. */
  signOn(options?: SignOnOptions): Promise<SignedOn>;
  redeem(signedOn: Pick<SignedOn, "code" | "pkce">, changes?: object, request?: Call): Promise<Answer>;
  /** The record of a sign-on, by its reference. */
  recordOf(reference: string): Promise<Answer["body"]>;
  records(): Promise<Answer["body"][]>;
  close(): Promise<void>;
};

type SignOnOptions = { browser?: Browser; parameters?: Record<string, string | undefined> };

export type SignedOn = {
  pkce: Pkce;
  browser: Browser;
  /** The address to which the identity provider redirected the browser. */
  callback: string;
  answer: Answer;
  location: string;
  code: string;
  error: string | null;
  reference: string;
  returned: URLSearchParams;
};

export async function createFederation(
  options: Parameters<typeof createTestApp>[0] & { idp?: HostileIdp; clientId?: string } = {},
): Promise<Federation> {
  const idp = options.idp ?? (await startHostileIdp());
  const latchkey = await createTestApp({ allowedOrigins: [idp.origin], ...options });
  idp.now = latchkey.clock.now;
  const store = await latchkey.createStore(100_000);
  const implicit = await store.token("implicit");
  const { body } = await store.call(getAuthenticationSettings);
  const realmId: string = body.data.realm_id;
  const issuer = `${PUBLIC_URL}/sign-on/stores/${store.store.id}/realms/${realmId}`;

  async function addProfile(data: object = {}, realm = realmId): Promise<string> {
    const profile = {
      type: "oidc-profile",
      name: "Hostile",
      discovery_url: idp.discoveryUrl,
      client_id: idp.clientId,
      client_secret: idp.clientSecrets[0],
      ...data,
    };
    const made = await store.call(createProfile, { ids: { realm }, json: { data: profile } });
    return made.body.data.id;
  }
  async function changeRealm(data: object): Promise<void> {
    await store.call(updateRealm, {
      ids: { id: realmId },
      json: { data: { type: "authentication-realm", ...data } },
    });
  }
  await changeRealm({ redirect_uris: [SHOP, `${SHOP}?shop=1`] });
  const profileId = await addProfile();

  const federation: Federation = {
    latchkey,
    store,
    idp,
    realmId,
    profileId,
    issuer,
    implicit,
    callbackUrl: `${issuer}/profiles/${profileId}/callback`,
    addProfile,
    changeRealm,
    parameters: (changes = {}) =>
      Object.fromEntries(
        Object.entries({
          profile: profileId,
          scope: "openid email",
          response_type: "code",
          client_id: "customers",
          redirect_uri: SHOP,
          state: "the storefront's state",
          code_challenge_method: "S256",
          code_challenge: newPkce().challenge,
          ...changes,
        }).filter((pair): pair is [string, string] => pair[1] !== undefined),
      ),
    async begin(browser, changes = {}) {
      const answer = await visit(
        authorize,
        browser,
        { store: store.store.id, realm: realmId },
        new URLSearchParams(federation.parameters(changes)).toString(),
      );
      return answer;
    },
    comeBack(browser, url) {
      const [, storeId = "", realm = "", profile = ""] =
        /stores\/([^/]+)\/realms\/([^/]+)\/profiles\/([^/]+)\/callback/.exec(url) ?? [];
      return visit(callback, browser, { store: storeId, realm, profile }, url.slice(url.indexOf("?") + 1));
    },
    async signOn({ browser = { cookie: undefined }, parameters = {} } = {}) {
      const pkce = newPkce();
      const begun = await federation.begin(browser, { code_challenge: pkce.challenge, ...parameters });
      const atIdp = begun.headers.get("location") ?? "";
      if (begun.status !== 303 || !atIdp.startsWith(idp.origin)) return result(pkce, browser, "", begun);
      const back = idp.signIn(atIdp);
      return result(pkce, browser, back, await federation.comeBack(browser, back));
    },
    redeem: ({ code, pkce }, changes = {}, request = {}) =>
      call(latchkey.app, issueCustomerToken, {
        token: implicit,
        json: {
          data: {
            type: "token",
            authentication_mechanism: "oidc",
            oauth_authorization_code: code,
            oauth_redirect_uri: SHOP,
            oauth_code_verifier: pkce.verifier,
            ...changes,
          },
        },
        ...request,
      }),
    async recordOf(reference) {
      await latchkey.app.tidy();
      const { body: list } = await store.call(listSignOns, { query: `filter=eq(reference,${reference})` });
      if (list.data.length !== 1) throw new Error(`${list.data.length} records of ${reference}`);
      return (await store.call(getSignOn, { ids: { id: list.data[0].id } })).body.data;
    },
    async records() {
      await latchkey.app.tidy();
      return (await store.call(listSignOns, { query: "page[limit]=100" })).body.data;
    },
    async close() {
      await latchkey.close();
      if (!options.idp) await idp.close();
    },
  };

  /** Stores the cookie, and sends it with every request, as a browser does. */
  async function visit(
    operation: Operation,
    browser: Browser,
    ids: Record<string, string>,
    query: string,
  ): Promise<Answer> {
    const { peer, language } = browser;
    const headers = {
      ...(browser.cookie !== undefined && { cookie: `${COOKIE}=${browser.cookie}` }),
      ...(language !== undefined && { "accept-language": language }),
    };
    const answer = await call(latchkey.app, operation, { ids, query, headers, ...(peer && { peer }) });
    const given = /^[^=]+=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
    if (given !== undefined) browser.cookie = given;
    return answer;
  }

  function result(pkce: Pkce, browser: Browser, back: string, answer: Answer): SignedOn {
    const location = answer.headers.get("location") ?? "";
    const returned = new URLSearchParams(location.includes("?") ? location.slice(location.indexOf("?")) : "");
    return {
      pkce,
      browser,
      callback: back,
      answer,
      location,
      code: returned.get("code") ?? "",
      error: returned.get("error"),
      reference: returned.get("reference") ?? "",
      returned,
    };
  }

  return federation;
}
