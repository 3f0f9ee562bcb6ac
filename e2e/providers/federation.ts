import { afterEach } from "vitest";
import { createProfile } from "../../packages/server/src/contract/oidc-profiles.ts";
import { getAuthenticationSettings, updateRealm } from "../../packages/server/src/contract/realms.ts";
import { getSignOn, listSignOns } from "../../packages/server/src/contract/sign-ons.ts";
import { createTestApp, PUBLIC_URL } from "../../packages/server/test/support/app.ts";
import { handClock } from "../../packages/server/test/support/clock.ts";
import { newPkce, SHOP } from "../../packages/server/test/support/federation.ts";
import { type HonestIdpOptions, newCookieJar, startHonestIdp } from "../support/honest-idp.ts";

/**
 * Storefront, service and identity provider in one process. The provider is `oidc-provider`; the storefront is `fetch` alone, as
 * the contract describes, or `openid-client`.
 */
export type Federation = Awaited<ReturnType<typeof openFederation>>;
let opened: { close(): Promise<void> }[] = [];

/** Closes after each test what `openFederation` has opened. */
export const closeFederations = (): void =>
  afterEach(async () => {
    for (const federation of opened) await federation.close();
    opened = [];
  });

export async function openFederation(options: HonestIdpOptions & { clientSecret?: string } = {}) {
  const idp = await startHonestIdp(options);
  // The provider and the client library use the machine's clock, so the service's clock begins there.
  const clock = handClock(Date.now());
  const latchkey = await createTestApp({ allowedOrigins: [idp.origin], clock });
  const store = await latchkey.createStore(100_000);
  const settings = await store.call(getAuthenticationSettings);
  const realmId: string = settings.body.data.realm_id;
  await store.call(updateRealm, {
    ids: { id: realmId },
    json: { data: { type: "authentication-realm", redirect_uris: [SHOP] } },
  });
  const data = {
    type: "oidc-profile",
    name: "Honest",
    discovery_url: idp.discoveryUrl,
    client_id: idp.clientId,
    client_secret: options.clientSecret ?? idp.clientSecret,
  };
  const profile = await store.call(createProfile, { ids: { realm: realmId }, json: { data } });
  const links: Record<"callback-endpoint" | "backchannel-logout-endpoint", string> = profile.body.links;
  idp.register({ callback: links["callback-endpoint"] });

  const federation = {
    idp,
    clock,
    store,
    links,
    issuer: `${PUBLIC_URL}/sign-on/stores/${store.store.id}/realms/${realmId}`,
    service: (request: Request): Promise<Response> =>
      Promise.resolve(latchkey.app.fetch(request, { incoming: { socket: { remoteAddress: "127.0.0.1" } } })),
    /** The record of a sign-on. */
    async recordOf(reference: string) {
      await latchkey.app.tidy();
      const { body } = await store.call(listSignOns, { query: `filter=eq(reference,${reference})` });
      return (await store.call(getSignOn, { ids: { id: body.data[0].id } })).body.data;
    },
    async close() {
      await latchkey.close();
      await idp.close();
    },
  };
  opened.push(federation);
  return federation;
}

/** A browser that follows redirects, with its cookies. */
export function openBrowser({ service, idp }: Federation) {
  const jar = newCookieJar();
  /** A request to the service; returns the address of its redirect. */
  async function visit(url: string): Promise<string> {
    const response = await service(new Request(url, { headers: jar.headersFor(url) }));
    jar.keep(url, response);
    const location = response.headers.get("location");
    if (location === null)
      throw new Error(`the service answers ${response.status}: ${await response.text()}`);
    return location;
  }
  return {
    jar,
    visit,
    /** From any address back to the storefront. */
    async go(url: string): Promise<URL> {
      let at = url;
      while (!at.startsWith(SHOP)) at = at.startsWith(PUBLIC_URL) ? await visit(at) : await idp.walk(at, jar);
      return new URL(at);
    },
  };
}

type Begun = { url: string; state: string; verifier: string };

/** The contract's steps for a storefront. */
export async function openStorefront({ service, store }: Federation) {
  // biome-ignore lint/suspicious/noExplicitAny: a storefront in JavaScript looks at what comes
  async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: any }> {
    const response = await service(new Request(`${PUBLIC_URL}${path}`, init));
    return { status: response.status, body: await response.json() };
  }
  const form = new URLSearchParams({ grant_type: "implicit", client_id: store.key.clientId });
  const { body: access } = await ask("/oauth/access_token", { method: "POST", body: form });
  const headers = { authorization: `Bearer ${access.access_token}`, "content-type": "application/json" };
  const { body: settings } = await ask("/v2/customer-authentication-settings", { headers });
  const realmPath = `/v2/authentication-realms/${settings.data.realm_id}`;
  const { body: profiles } = await ask(`${realmPath}/oidc-profiles/`, { headers });
  const link: string = profiles.data[0].links["authorization-endpoint"];

  return {
    begin(more: Record<string, string> = {}): Begun {
      const { verifier, challenge } = newPkce();
      const state = newPkce().verifier;
      const parameters = new URLSearchParams({
        scope: "openid email",
        response_type: "code",
        client_id: settings.data.client_id,
        redirect_uri: SHOP,
        state,
        code_challenge_method: "S256",
        code_challenge: challenge,
        ...more,
      });
      return { url: `${link}&${parameters}`, state, verifier };
    },
    finish({ state, verifier }: Begun, { searchParams }: URL) {
      if (searchParams.get("state") !== state) throw new Error("this is not the sign-on that we began");
      const data = {
        type: "token",
        authentication_mechanism: "oidc",
        oauth_authorization_code: searchParams.get("code"),
        oauth_redirect_uri: SHOP,
        oauth_code_verifier: verifier,
      };
      return ask("/v2/customers/tokens", { method: "POST", headers, body: JSON.stringify({ data }) });
    },
    /** The customer, as the customer token shows it. */
    lookAt: (token: { customer_id: string; token: string }) =>
      ask(`/v2/customers/${token.customer_id}`, { headers: { ...headers, "x-customer-token": token.token } }),
  };
}

/** A complete sign-on, up to the customer token. */
export async function signOn(
  federation: Federation,
  browser = openBrowser(federation),
  more: Record<string, string> = {},
) {
  const storefront = await openStorefront(federation);
  const begun = storefront.begin(more);
  const returned = await browser.go(begun.url);
  const { status, body } = await storefront.finish(begun, returned);
  return { status, token: body.data, storefront };
}
