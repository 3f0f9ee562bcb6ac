import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { tellReady } from "./node-http.ts";

/** Bare Hono: finds the route and answers JSON of the size that Latchkey answers. No caller, no database, no log. */
const id = "01980000-0000-7000-8000-000000000000";
const self = `http://127.0.0.1/v2/anything/${id}`;
const at = "2026-01-01T00:00:00.000Z";

const settings = {
  data: {
    id,
    type: "customer-authentication-settings",
    client_id: "customers",
    realm_id: id,
    meta: { client_id: "customers" },
    relationships: {
      "authentication-realm": { data: { id, type: "authentication-realm", links: { self } } },
    },
  },
  links: { self },
};
const profiles = {
  data: [
    {
      id,
      type: "oidc-profile",
      name: "Bench",
      discovery_url: self,
      client_id: "the-store",
      enabled: true,
      flow: "brokered",
      provisioning: "create",
      meta: { issuer: self, created_at: at, updated_at: at, health: { status: "healthy", since: at } },
      links: {
        self,
        "authorization-endpoint": self,
        "callback-endpoint": self,
        "client-discovery-url": self,
      },
    },
  ],
  meta: { page: { limit: 25, offset: 0, current: 1, total: 1 }, results: { total: 1 } },
  links: { current: self, first: self, last: self, next: null, prev: null },
};
const key = {
  data: {
    id,
    type: "application_key",
    name: "Bench",
    client_id: "lkid_0123456789012345678901234567",
    reserved_rate_limit: 0,
    meta: {
      timestamps: { last_used_at: at, created_at: at, updated_at: at },
      secrets: [{ created_at: at, last_used_at: at, expires_at: null }],
    },
  },
  links: { self },
};

const app = new Hono();
app.get("/v2/customer-authentication-settings", (c) => c.json(settings));
app.get("/v2/authentication-realms/:realm/oidc-profiles", (c) => c.json(profiles));
app.get("/v2/application-keys/:id", (c) => c.json(key));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
  tellReady({ url: `http://127.0.0.1:${port}`, realmId: id, keyId: id }),
);
