import { newCookieJar } from "../../../e2e/support/honest-idp.ts";
import { createProfile } from "../../server/src/contract/oidc-profiles.ts";
import { getAuthenticationSettings, updateRealm } from "../../server/src/contract/realms.ts";
import { getSignOn, listSignOns } from "../../server/src/contract/sign-ons.ts";
import { createEgress } from "../../server/src/egress/egress.ts";
import { createTestApp, PUBLIC_URL } from "../../server/test/support/app.ts";
import { handClock } from "../../server/test/support/clock.ts";
import { newPkce, SHOP } from "../../server/test/support/federation.ts";
import { startPracticeIdp } from "../src/practice-idp/start.ts";

/** Latchkey and the practice provider in one process, with a browser that follows their redirects. */
export type Federation = Awaited<ReturnType<typeof openFederation>>;
type Browser = ReturnType<typeof openBrowser>;

const CLIENT = { clientId: "latchkey", clientSecret: "a secret: with + and %" };

export async function openFederation({ idpCallMs }: { idpCallMs?: number } = {}) {
  const answersToLogout: number[] = [];
  const idp = await startPracticeIdp({
    quiet: true,
    fetch: async (url, init) => {
      const response = await service(new Request(url as string, init));
      answersToLogout.push(response.status);
      return response;
    },
  });
  // The provider uses the machine's clock, so the service's clock begins at the same time.
  const clock = handClock(Date.now());
  const allowedOrigins = [idp.origin];
  const latchkey = await createTestApp({
    allowedOrigins,
    clock,
    ...(idpCallMs !== undefined && { egress: createEgress({ allowedOrigins, callMs: idpCallMs }) }),
  });
  const store = await latchkey.createStore(100_000);
  const implicit = await store.token("implicit");
  const realmId: string = (await store.call(getAuthenticationSettings)).body.data.realm_id;

  function service(request: Request): Promise<Response> {
    return Promise.resolve(
      latchkey.app.fetch(request, { incoming: { socket: { remoteAddress: "127.0.0.1" } } }),
    );
  }
  async function changeRealm(change: object): Promise<void> {
    const json = { data: { type: "authentication-realm", ...change } };
    await store.call(updateRealm, { ids: { id: realmId }, json });
  }
  await changeRealm({ redirect_uris: [SHOP] });
  const data = {
    type: "oidc-profile",
    name: "Practice",
    discovery_url: idp.discoveryUrl,
    client_id: CLIENT.clientId,
    client_secret: CLIENT.clientSecret,
  };
  const profile = await store.call(createProfile, { ids: { realm: realmId }, json: { data } });
  const { links } = profile.body;
  const registered = { ...CLIENT, redirectUris: [links["callback-endpoint"] as string] };
  idp.setClient(registered);

  return {
    idp,
    clock,
    store,
    realmId,
    profileId: profile.body.data.id as string,
    link: links["authorization-endpoint"] as string,
    service,
    changeRealm,
    tidy: latchkey.app.tidy,
    answersToLogout,
    registerLogout: () =>
      idp.setClient({ ...registered, backchannelLogoutUri: links["backchannel-logout-endpoint"] }),
    /** The record of a sign-on. */
    async recordOf(reference: string) {
      await latchkey.app.tidy();
      const { body } = await store.call(listSignOns, { query: `filter=eq(reference,${reference})` });
      return (await store.call(getSignOn, { ids: { id: body.data[0].id } })).body.data;
    },
    // biome-ignore lint/suspicious/noExplicitAny: a storefront in JavaScript looks at what comes
    async ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: any }> {
      const headers = {
        authorization: `Bearer ${implicit}`,
        "content-type": "application/json",
        ...init.headers,
      };
      const response = await service(new Request(`${PUBLIC_URL}${path}`, { ...init, headers }));
      return { status: response.status, body: await response.json() };
    },
    async close() {
      await latchkey.close();
      await idp.close();
    },
  };
}

/** The form values of a press on the sign-in page. */
type Press = Record<string, string>;

export function openBrowser({ service, idp }: Pick<Federation, "service" | "idp">) {
  const jar = newCookieJar();
  /** The sign-in pages that the browser has loaded. */
  const pages: { text: string; policy: string | null }[] = [];

  async function request(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...jar.headersFor(url), ...init.headers };
    const response = url.startsWith(PUBLIC_URL)
      ? await service(new Request(url, { ...init, headers }))
      : await fetch(url, { ...init, headers, redirect: "manual" });
    jar.keep(url, response);
    return response;
  }

  const post = (url: string, form: Press): Promise<Response> =>
    request(url, {
      method: "POST",
      headers: { origin: idp.origin, "sec-fetch-site": "same-origin" },
      body: new URLSearchParams(form),
    });

  return {
    pages,
    request,
    post,
    /** Follows redirects, submits a sign-in page once, and returns the shop's URL. */
    async walk(from: string, press?: Press, meanwhile?: () => Promise<unknown>): Promise<URL> {
      let at = from;
      while (!at.startsWith(SHOP)) {
        let response = await request(at);
        if (response.status === 200 && press) {
          const policy = response.headers.get("content-security-policy");
          pages.push({ text: await response.text(), policy });
          await meanwhile?.();
          response = await post(at, press);
        }
        const next = response.headers.get("location");
        if (next === null) throw new Error(`${at} answers ${response.status}: ${await response.text()}`);
        at = new URL(next, at).href;
      }
      return new URL(at);
    },
  };
}

type SignedOn = {
  /** `error` of the redirect to the shop. */
  error: string | null;
  /** The record's reason; null for a successful sign-on. */
  reason: string | null;
  token: { customer_id: string; token: string } | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what the contract has of a customer
  customer: any;
};

/** Runs a sign-on from the click to the customer token, and reads its record. */
export async function signOn(
  federation: Federation,
  press?: Press,
  options: { browser?: Browser; prompt?: string; meanwhile?: () => Promise<unknown> } = {},
): Promise<SignedOn> {
  const { link, ask, recordOf } = federation;
  const browser = options.browser ?? openBrowser(federation);
  const { verifier, challenge } = newPkce();
  const parameters = new URLSearchParams({
    scope: "openid email profile",
    response_type: "code",
    client_id: "customers",
    redirect_uri: SHOP,
    state: newPkce().verifier,
    code_challenge_method: "S256",
    code_challenge: challenge,
    ...(options.prompt !== undefined && { prompt: options.prompt }),
  });
  const { searchParams } = await browser.walk(`${link}&${parameters}`, press, options.meanwhile);
  const error = searchParams.get("error");
  if (error !== null) {
    const { reason } = await recordOf(searchParams.get("reference") ?? "");
    return { error, reason, token: undefined, customer: undefined };
  }
  const data = {
    type: "token",
    authentication_mechanism: "oidc",
    oauth_authorization_code: searchParams.get("code"),
    oauth_redirect_uri: SHOP,
    oauth_code_verifier: verifier,
  };
  const { body } = await ask("/v2/customers/tokens", { method: "POST", body: JSON.stringify({ data }) });
  const token = body.data;
  const found = await ask(`/v2/customers/${token.customer_id}`, {
    headers: { "x-customer-token": token.token },
  });
  return { error, reason: null, token, customer: found.body.data };
}
