import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { App } from "../../../src/app.ts";
import { createCustomer } from "../../../src/contract/customers.ts";
import { deleteProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { callback } from "../../../src/contract/sign-on.ts";
import { type SignOnReason, signOnReasonEntry } from "../../../src/contract/sign-on-reasons.ts";
import { createTestApp, PUBLIC_URL, type TestApp } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import {
  type Browser,
  COOKIE,
  createFederation,
  type Federation,
  newPkce,
  SHOP,
} from "../../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../../support/hostile-idp.ts";
import { locationOf, newBrowser, REFERENCE, redirectOf } from "../../support/redirects.ts";

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
    // Clears what the test before has left: rows, log lines, hooks, the rate of requests.
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
    // Every redirect of the service leads to a provider or to a registered URI (A29).
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

/** A federation of its own for each test of a describe: for tests that change more than the reset undoes. */
export function withOwnFederation(options: () => Parameters<typeof createFederation>[0] = () => ({})): void {
  beforeEach(async () => {
    f = await federate(options());
  });
  afterEach(() => f.close());
}

/** Another instance of the service, on the same database. */
export async function otherInstance(options: Parameters<typeof createTestApp>[0] = {}): Promise<App> {
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

export const STATE = "the storefront's state";
/** The age at which the provider's documents are read again. */
export const REREAD_MS = 5 * 60_000;
/** All parameters of a refusal in the redirect to the storefront; in particular, no code. */
export const refusalFor = (reason: SignOnReason, changes: Record<string, unknown> = {}) => ({
  target: SHOP,
  error: signOnReasonEntry(reason).error,
  error_description: signOnReasonEntry(reason).means,
  error_uri: `${PUBLIC_URL}/errors/${reason}`,
  reason,
  reference: expect.stringMatching(REFERENCE),
  state: STATE,
  iss: f.issuer,
  ...changes,
});
export const codeRedirect = () => ({
  target: SHOP,
  code: expect.stringMatching(/^lkac_/),
  state: STATE,
  iss: f.issuer,
});

export type Begun = { browser: Browser; location: string; back: string };
/** Begins a sign-on, and signs in at the provider; `back` is the redirect to the callback. */
export async function begin(browser = newBrowser(), parameters = {}, provider = idp): Promise<Begun> {
  const location = locationOf(await f.begin(browser, parameters));
  return { browser, location, back: provider.signIn(location) };
}
export const end = ({ browser, back }: Pick<Begun, "browser" | "back">) => f.comeBack(browser, back);

/** Sends the callback to another path, to another instance, or with another cookie. */
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
  const begun = await begin(newBrowser(), { code_challenge: pkce.challenge, ...parameters }, provider);
  const { code = "" } = redirectOf(await end(begun));
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
/** All rows of persons that a sign-on may write. */
export const people = async () => ({
  customers: await rowsOf("customers"),
  identities: await rowsOf("customer_identities"),
  tokens: await rowsOf("customer_tokens"),
});
