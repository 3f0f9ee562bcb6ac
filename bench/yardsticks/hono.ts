import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { keyAnswer, metadataOf, profilesAnswer, settingsAnswer } from "./answers.ts";
import { sendReady } from "./node-http.ts";

/**
 * Bare Hono: finds the route and answers as Latchkey does, from rows in memory. No authentication, no database, no log.
 */
const id = "01980000-0000-7000-8000-000000000000";
const where = { publicUrl: "http://127.0.0.1:12345" };
const idp = "http://127.0.0.1:12346";
const common = { id, store_id: id, name: "Bench", created_at: 1.8e12, updated_at: 1.8e12 };

const settings = settingsAnswer(where, {
  store_id: id,
  client_id: "customers",
  realm_id: id,
  updated_at: 1.8e12,
});
const profiles = profilesAnswer(where, {
  ...common,
  realm_id: id,
  discovery_url: `${idp}/.well-known/openid-configuration`,
  client_id: "the-store",
  sealed_client_secret: "",
  sealed_client_secret_next: null,
  enabled: 1,
  flow: "brokered",
  provisioning: "create",
  metadata: metadataOf(idp),
  pending_metadata: null,
  pending_since: null,
  former_profile_ids: "[]",
  told_health: null,
  purpose: "customers",
  propagate_logout: 0,
  former_issuers: null,
  issuer_found: null,
  issuer_found_at: null,
  read_at: null,
  refused_logout: null,
  tokens_from: null,
  id_token_alg: null,
});
const key = keyAnswer(where, {
  ...common,
  client_id: "lkid_0123456789012345678901234567",
  reserved_rate_limit: 0,
  role: "administrator",
  openid_client: "pkce",
  last_used_at: 1.8e12,
  secret_created_at: 1.8e12,
  secret_last_used_at: 1.8e12,
});

const app = new Hono();
app.get("/v2/customer-authentication-settings", (c) => c.json(settings));
app.get("/v2/authentication-realms/:realm/oidc-profiles", (c) => c.json(profiles));
app.get("/v2/application-keys/:id", (c) => c.json(key));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
  sendReady({ url: `http://127.0.0.1:${port}`, realmId: id, keyId: id }),
);
