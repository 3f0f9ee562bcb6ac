import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { createProfile, getProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../../../src/contract/realms.ts";
import { createTestApp, type TestApp, type TestStore } from "../../support/app.ts";
import { type HostileIdp, startHostileIdp } from "../../support/hostile-idp.ts";

/** A store, a hostile provider, and the profiles made for it. */

export let latchkey: TestApp;
export let idp: HostileIdp;
export let store: TestStore;
export let realm: string;

export function profilesOfAStore(): void {
  beforeAll(async () => {
    idp = await startHostileIdp();
  });
  afterAll(() => idp.close());
  beforeEach(async () => {
    idp.hooks = {};
    idp.journal.length = 0;
    idp.issuer = idp.origin;
    latchkey = await createTestApp({ allowedOrigins: [idp.origin] });
    store = await latchkey.createStore(10_000);
    realm = (await store.call(getAuthenticationSettings)).body.data.realm_id;
  });
  afterEach(() => latchkey.close());
}

export const given = () => ({
  type: "oidc-profile",
  name: "Company account",
  discovery_url: idp.discoveryUrl,
  client_id: idp.clientId,
  client_secret: "marker secret",
});
export const create = (data: object = {}) =>
  store.call(createProfile, { ids: { realm }, json: { data: { ...given(), ...data } } });
export const created = async (data: object = {}) => (await create(data)).body.data as { id: string };
export const update = (id: string, data: object) =>
  store.call(updateProfile, { ids: { realm, id }, json: { data: { type: "oidc-profile", ...data } } });
export const read = async (id: string) => (await store.call(getProfile, { ids: { realm, id } })).body;

/** The next calls come from another store, in its realm. */
export async function useNewStore(): Promise<void> {
  store = await latchkey.createStore();
  realm = (await store.call(getAuthenticationSettings)).body.data.realm_id;
}
