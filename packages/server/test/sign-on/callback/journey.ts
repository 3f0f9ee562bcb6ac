import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { App } from "../../../src/app.ts";
import { createCustomer } from "../../../src/contract/customers.ts";
import { deleteProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { callback } from "../../../src/contract/sign-on.ts";
import { type SignOnReason, signOnReasonEntry } from "../../../src/contract/sign-on-reasons.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { type Answer, call } from "../../support/call.ts";
import {
  type Browser,
  COOKIE,
  createFederation,
  type Federation,
  newPkce,
  SHOP,
} from "../../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../../support/hostile-idp.ts";

/** A storefront, two hostile providers and a browser: the way from the click to the provider's redirect back. */

export let idp: HostileIdp;
export let second: HostileIdp;
export let shared: Federation;
export let f: Federation;
export let instances: TestApp[];
let redirects: string[];

export function callbackJourneys(): void {
  beforeAll(async () => {
    idp = await startHostileIdp();
    second = await startHostileIdp();
    shared = await federate();
  });
  afterAll(async () => {
    await shared.close();
    await idp.close();
    await second.close();
  });
  beforeEach(async () => {
    f = shared;
    // Later, with nothing recorded and nobody known: as if nothing had been before.
    f.latchkey.clock.advance(10_000);
    for (const table of ["sign_on_attempts", "sign_ons", "customers"] as const)
      await f.latchkey.storage.db.deleteFrom(table).execute();
    f.latchkey.logLines.length = 0;
    redirects = [];
    instances = [];
    for (const provider of [idp, second]) {
      provider.hooks = {};
      provider.person = { ...ADA };
      provider.now = f.latchkey.clock.now;
      provider.journal.length = 0;
    }
  });
  afterEach(async () => {
    for (const { app } of instances) await app.stop();
    await f.latchkey.app.tidy();
    // Of everything that this file makes the service do: it sends a browser to a provider or to a registered URI (A29).
    const known = [`${idp.origin}/authorize?`, `${second.origin}/authorize?`, `${SHOP}?`];
    expect(redirects.filter((location) => !known.some((start) => location.startsWith(start)))).toEqual([]);
  });
}

async function federate(options: Parameters<typeof createFederation>[0] = {}): Promise<Federation> {
  const made = await createFederation({ idp, allowedOrigins: [idp.origin, second.origin], ...options });
  second.now = made.latchkey.clock.now;
  watch(made.latchkey.app);
  idp.journal.length = 0;
  second.journal.length = 0;
  return made;
}

/** A federation on a database of the test's own; the test closes both. */
export async function federateOn(databaseUrl: string): Promise<void> {
  f = await federate({ databaseUrl });
}

/** For tests that change more than a reset undoes: a federation of their own. */
export function eachAlone(options: () => Parameters<typeof createFederation>[0] = () => ({})): void {
  beforeEach(async () => {
    f = await federate(options());
  });
  afterEach(() => f.close());
}

/** Another instance of the service, on the same database. */
export async function beside(options: Parameters<typeof createTestApp>[0] = {}): Promise<App> {
  const { storage, clock } = f.latchkey;
  const allowedOrigins = [idp.origin, second.origin];
  const instance = await createTestApp({ storage, clock, allowedOrigins, ...options });
  instances.push(instance);
  watch(instance.app);
  return instance.app;
}

export function watch(app: App): void {
  const { fetch } = app;
  app.fetch = async (request, env) => {
    const response = await fetch(request, env);
    if (response.status >= 300 && response.status < 400)
      redirects.push(response.headers.get("location") ?? "");
    return response;
  };
}

export const nobody = (): Browser => ({ cookie: undefined });
export const locationOf = (answer: Answer) => answer.headers.get("location") ?? "";
/** Where a redirect leads, and what it says. */
export function told(answer: Answer): Record<string, string> {
  const location = locationOf(answer);
  const end = location.indexOf("?");
  return {
    target: location.slice(0, end),
    ...Object.fromEntries(new URLSearchParams(location.slice(end + 1))),
  };
}
export const STATE = "the storefront's state";
/** After this, the provider's documents are read again. */
export const REREAD_MS = 5 * 60_000;
export const REFERENCE = /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/;
/** All that a storefront is told of a refusal, and nothing beside it: no code above all. */
export const refusalFor = (reason: SignOnReason, changes: Record<string, unknown> = {}) => ({
  target: SHOP,
  error: signOnReasonEntry(reason).error,
  error_description: signOnReasonEntry(reason).means,
  reason,
  reference: expect.stringMatching(REFERENCE),
  state: STATE,
  iss: f.issuer,
  ...changes,
});
export const welcome = () => ({
  target: SHOP,
  code: expect.stringMatching(/^lkac_/),
  state: STATE,
  iss: f.issuer,
});
export const referenceOnPage = (answer: Answer): string =>
  /<strong>([^<]+)<\/strong>/.exec(answer.body)?.[1] ?? "";

export type Begun = { browser: Browser; location: string; back: string };
/** From the click to the moment before the browser is sent back. */
export async function begin(browser = nobody(), parameters = {}, provider = idp): Promise<Begun> {
  const location = locationOf(await f.begin(browser, parameters));
  return { browser, location, back: provider.signIn(location) };
}
export const end = ({ browser, back }: Pick<Begun, "browser" | "back">) => f.comeBack(browser, back);

/** The callback at another path, or of another instance, or with other cookies. */
export function endAt(
  app: App,
  { browser, back }: Pick<Begun, "browser" | "back">,
  changes: Record<string, string> = {},
) {
  return call(app, callback, {
    ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId, ...changes },
    query: back.slice(back.indexOf("?") + 1),
    headers: browser.cookie === undefined ? {} : { cookie: `${COOKIE}=${browser.cookie}` },
  });
}

export const withQuery = (back: string, change: (query: URLSearchParams) => void): string => {
  const [path, search] = back.split("?");
  const query = new URLSearchParams(search);
  change(query);
  return `${path}?${query}`;
};

export async function customerOf(
  provider: HostileIdp,
  parameters: Record<string, string> = {},
): Promise<string> {
  const pkce = newPkce();
  const begun = await begin(nobody(), { code_challenge: pkce.challenge, ...parameters }, provider);
  const { code = "" } = told(await end(begun));
  return (await f.redeem({ code, pkce })).body.data.customer_id;
}

export const changeProfile = (data: object) =>
  f.store.call(updateProfile, {
    ids: { realm: f.realmId, id: f.profileId },
    json: { data: { type: "oidc-profile", ...data } },
  });
export const removeProfile = () =>
  f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
export const newCustomer = (data: object = {}) =>
  f.store.call(createCustomer, {
    json: { data: { type: "customer", name: "Ada", email: ADA.email, email_verified: true, ...data } },
  });

export const rowsOf = (table: "customers" | "customer_identities" | "customer_tokens" | "sign_on_attempts") =>
  f.latchkey.storage.db.selectFrom(table).selectAll().execute();
/** Everything that a sign-on could change of anybody. */
export const people = async () => ({
  customers: await rowsOf("customers"),
  identities: await rowsOf("customer_identities"),
  tokens: await rowsOf("customer_tokens"),
});
