import { type Api, pathOf } from "./access.ts";
import { readAll } from "./read-all.ts";
import type { Provider } from "./types.ts";

/**
 * Reads the settings and providers of a store's sign-on. Settings and providers are kept for five minutes, a
 * realm's endpoints for as long as the storefront exists.
 */

type Settings = { id: string; client_id: string; realm_id: string };

/** The members of an OIDC profile that a storefront needs. */
type Profile = {
  id: string;
  name: string;
  enabled: boolean;
  flow: Provider["flow"];
  meta: { issuer: string | null; health: { status: Provider["health"] } };
};
type ProfileLinks = { "authorization-endpoint": string | null; "client-discovery-url": string };
type ProfileItem = Profile & { links: ProfileLinks };

/** The authorization endpoint for a shopper, and the expected issuer of the answer. */
type Destination = { endpoint: string | null; issuer: string | null; namesIssuer: boolean; readAt: number };

const WELL_KNOWN = "/.well-known/openid-configuration";

/**
 * A server's storefront lives for weeks. Meanwhile a store may get another realm or client id, and a provider
 * another flow.
 */
const KEPT_MS = 5 * 60_000;

/** The destination of a sign-on through a profile. */
function destinationIn({ flow, meta }: Profile, links: ProfileLinks) {
  const isDirect = flow === "direct";
  return {
    endpoint: links["authorization-endpoint"],
    // The URL of a discovery document is its issuer and this path (OpenID Connect Discovery 4).
    issuer: isDirect ? meta.issuer : links["client-discovery-url"].slice(0, -WELL_KNOWN.length),
    namesIssuer: !isDirect,
  };
}

export function openProviders(api: Api, now: () => number) {
  const known = new Map<string, Destination>();
  let reading: Promise<Settings> | undefined;
  let readAt = 0;

  /** False too if the clock was set back. */
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
    const items = await readAll<ProfileItem>(api, await profilesPath(), { step: "providers" });
    const enabled = items.filter((item) => item.enabled);
    return enabled.map((item) => {
      const { id, name, flow } = item;
      const { status: health } = item.meta.health;
      const { endpoint } = keep(id, destinationIn(item, item.links));
      return { id, name, isUp: health !== "down" && !!endpoint, health, flow };
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
    return keep(id, destinationIn(data, links));
  }

  /**
   * The realm's own authorization endpoint, where the shopper chooses. Kept by realm id, because a store's
   * realm may change.
   */
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
      // A destination without an endpoint is read again: the shopper's message says to try again soon.
      return before?.endpoint && isFresh(before.readAt) ? before : find(id);
    },
  };
}

export type Providers = ReturnType<typeof openProviders>;
