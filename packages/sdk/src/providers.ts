import { type Api, pathOf } from "./access.ts";
import { readAll } from "./read-all.ts";
import type { Provider } from "./types.ts";

/** What the service says of the store's sign-on. What was read is kept for a while; where the realm itself is, for good. */

type Settings = { id: string; client_id: string; realm_id: string };

/** As much of an OIDC profile as a storefront needs. */
type Profile = {
  id: string;
  name: string;
  enabled: boolean;
  flow: Provider["flow"];
  meta: { issuer: string | null; health: { status: Provider["health"] } };
};
type ProfileLinks = { "authorization-endpoint": string | null; "client-discovery-url": string };

/** Where a shopper is sent, and who must answer. */
type Destination = { endpoint: string | null; issuer: string | null; namesIssuer: boolean; readAt: number };

const WELL_KNOWN = "/.well-known/openid-configuration";

/** A server's storefront lives for weeks, and the store may be given another realm or client id meanwhile, or a provider another flow. */
const KEPT_MS = 5 * 60_000;

export function openProviders(api: Api, now: () => number) {
  const known = new Map<string, Destination>();
  let reading: Promise<Settings> | undefined;
  let readAt = 0;

  /** Also not where the clock was set back. */
  const isFresh = (at: number) => Math.abs(now() - at) < KEPT_MS;

  function settings(): Promise<Settings> {
    if (reading && isFresh(readAt)) return reading;
    readAt = now();
    const asked = api<{ data: Settings }>({
      method: "GET",
      path: "/v2/customer-authentication-settings",
      step: "settings",
    }).then(({ data }) => data);
    asked.catch(() => {
      reading = undefined;
    });
    reading = asked;
    return asked;
  }

  const profilesPath = async () => `/v2/authentication-realms/${(await settings()).realm_id}/oidc-profiles`;

  async function list(): Promise<Provider[]> {
    type Item = Profile & { links: ProfileLinks };
    const items = await readAll<Item>(api, await profilesPath(), { step: "providers" });
    return items
      .filter(({ enabled }) => enabled)
      .map((item) => {
        const { id, name, flow } = item;
        const { status: health } = item.meta.health;
        const { endpoint } = note(item, item.links);
        return { id, name, isUp: health !== "down" && !!endpoint, health, flow };
      });
  }

  function note({ id, flow, meta }: Profile, links: ProfileLinks): Destination {
    const isDirect = flow === "direct";
    return keep(id, {
      endpoint: links["authorization-endpoint"],
      // A realm's discovery document is where its issuer says (OpenID Connect Discovery 4).
      issuer: isDirect ? meta.issuer : links["client-discovery-url"].slice(0, -WELL_KNOWN.length),
      namesIssuer: !isDirect,
    });
  }

  function keep(id: string, where: Omit<Destination, "readAt">): Destination {
    const destination = { ...where, readAt: now() };
    known.set(id, destination);
    return destination;
  }

  async function find(id: string): Promise<Destination> {
    const { data, links } = await api<{ data: Profile; links: ProfileLinks }>({
      method: "GET",
      path: (await profilesPath()) + pathOf(id),
      step: "providers",
    });
    return note(data, links);
  }

  /** Where to go when the shopper has yet to choose. Kept by the realm's id: the store may be given another one. */
  async function realm(): Promise<Destination> {
    const { id, realm_id } = await settings();
    const before = known.get(realm_id);
    if (before) return before;
    const document = await api<{ issuer: string; authorization_endpoint: string }>({
      method: "GET",
      path: `/sign-on/stores/${id}/realms/${realm_id}${WELL_KNOWN}`,
      step: "discovery",
      expects: "issuer",
    });
    const { issuer, authorization_endpoint: endpoint } = document;
    return keep(realm_id, { endpoint, issuer, namesIssuer: true });
  }

  return {
    settings,
    list,
    async destinationOf(id?: string): Promise<Destination> {
      if (!id) return realm();
      const before = known.get(id);
      // One that could not be said is asked for again: the shopper was told to try again soon.
      return before?.endpoint && isFresh(before.readAt) ? before : find(id);
    },
  };
}

export type Providers = ReturnType<typeof openProviders>;
