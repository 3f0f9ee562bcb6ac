import { createStore, getToken, type Made } from "../support/running.ts";
import type { Fleet } from "./fleet.ts";

/** The data of a fleet's clients: three stores, one for each kind of load. */
export type Shop = {
  /** Sign-ons, keys, customers, revocations: the limit of this store is never reached. */
  work: Store & { realmId: string; profileId: string; implicit: string };
  /** Two clients reserve, together, more than the limit of this store. */
  tight: Store & { keys: [Key, Key] };
  /** The first key keeps to its floor while the second uses up the rest. */
  flooded: Store & { floor: Key & { token: string }; flooder: Key & { token: string } };
};

type Store = { id: string; made: Made; admin: string };
export type Key = { id: string; clientId: string; clientSecret: string };

/** The redirect URI of shoppers. */
export const STOREFRONT = "https://shop.example/signed-in";
export const TIGHT_LIMIT = 1000;
export const FLOOR = 20;
const FLOODED_LIMIT = 30;
/** Over T seconds at most `limit × (T + 1)` and, of floor and pool each, two for every ten begun (docs/rate-limits.md). */
export const ceilingOf = ({ floor, flooder }: Shop["flooded"]) => ({
  keys: new Set([floor.id, flooder.id]),
  limit: FLOODED_LIMIT,
  reserve: [FLOOR, FLOODED_LIMIT - FLOOR].reduce((sum, bucket) => sum + 2 * Math.ceil(bucket / 10), 0),
});

type Answered = { status: number; body: { data: Record<string, string> } };

export async function send(
  url: string,
  token: string,
  method: string,
  path: string,
  data?: object,
): Promise<Answered> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(data && { body: JSON.stringify({ data }) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? { data: {} } : JSON.parse(text) };
}

export async function openShop(fleet: Fleet): Promise<Shop> {
  const { url } = fleet.instances[0] as { url: string };
  const newStore = async (rateLimit: number): Promise<Store> => {
    const made = await createStore(fleet, "--rate-limit", String(rateLimit));
    return { id: made.store.id, made, admin: await getToken(url, made) };
  };
  const newKey = async ({ admin }: Store, name: string, reserved = 0): Promise<Key> => {
    const wanted = { type: "application_key", name, reserved_rate_limit: reserved };
    const { data } = (await send(url, admin, "POST", "/v2/application-keys", wanted)).body;
    return {
      id: data.id as string,
      clientId: data.client_id as string,
      clientSecret: data.client_secret as string,
    };
  };
  const withToken = async (store: Store, key: Key): Promise<Key & { token: string }> => {
    const application_key = { id: key.id, client_id: key.clientId, client_secret: key.clientSecret };
    return { ...key, token: await getToken(url, { ...store.made, application_key }) };
  };

  const [work, tight, flooded] = await Promise.all([100_000, TIGHT_LIMIT, FLOODED_LIMIT].map(newStore));
  if (!work || !tight || !flooded) throw new Error("no stores");
  const { realmId, profileId } = await addProfile(fleet, url, work);
  const form = { grant_type: "implicit", client_id: work.made.application_key.client_id };
  const answer = await fetch(`${url}/oauth/access_token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const implicit = ((await answer.json()) as { access_token: string }).access_token;
  return {
    work: { ...work, realmId, profileId, implicit },
    tight: { ...tight, keys: [await newKey(tight, "first"), await newKey(tight, "second")] },
    flooded: {
      ...flooded,
      floor: await withToken(flooded, await newKey(flooded, "floor", FLOOR)),
      flooder: await withToken(flooded, await newKey(flooded, "flooder")),
    },
  };
}

async function addProfile({ idp, publicUrl }: Fleet, url: string, { admin, id }: Store) {
  const settings = await send(url, admin, "GET", "/v2/customer-authentication-settings");
  const realmId = settings.body.data.realm_id as string;
  const realm = `/v2/authentication-realms/${realmId}`;
  await send(url, admin, "PUT", realm, { type: "authentication-realm", redirect_uris: [STOREFRONT] });
  const made = await send(url, admin, "POST", `${realm}/oidc-profiles`, {
    type: "oidc-profile",
    name: "Honest",
    discovery_url: idp.discoveryUrl,
    client_id: idp.clientId,
    client_secret: idp.clientSecret,
  });
  const profileId = made.body.data.id as string;
  if (made.status !== 201) throw new Error(`no profile: ${JSON.stringify(made.body)}`);
  const callback = `${publicUrl}/sign-on/stores/${id}/realms/${realmId}/profiles/${profileId}/callback`;
  idp.register({ callback });
  return { realmId, profileId };
}
