import { randomUUIDv7 } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { metadataOf } from "./answers.ts";
import { insertRow, openDatabase } from "./database.ts";
import { checkPassword, makePassword, readCustomer, signIn } from "./limit-customers.ts";
import { giveToken, readKey, readProfiles, readSettings, writeKey } from "./limit-keys.ts";
import { authorize, comeBack, loadKeys, redeem } from "./limit-sign-on.ts";
import { type Limit, newSecrets, signText } from "./limit-tokens.ts";
import { listen, sendReady, whenRead } from "./node-http.ts";

/**
 * The limit of each workload: a bare `node:http` server on Latchkey's tables that takes the same requests and does only
 * the necessary work. It reads the request, verifies or makes one signature, writes the same rows with the same
 * durability, and answers with the same members. It has no other checks, no rate limit, no log and no cache.
 */
const env = process.env as { DATABASE_URL: string; STORE: string; IDP: string };
const database = openDatabase(env.DATABASE_URL);
const place = (await database.ask(
  `select s.realm_id as realm, k.id as key, k.client_id as client from customer_authentication_settings s
   join application_keys k on k.store_id = s.store_id where s.store_id = ?`,
  env.STORE,
)) as { realm: string; key: string; client: string };

const limit: Limit = {
  ...database,
  ...newSecrets(),
  idp: env.IDP,
  idpKeys: await loadKeys(env.IDP),
  publicUrl: "",
  storeId: env.STORE,
  realmId: place.realm,
  profileId: await makeProfile(place.realm),
};

async function makeProfile(realmId: string): Promise<string> {
  const id = randomUUIDv7();
  const now = Date.now();
  await insertRow(database.ask, "oidc_profiles", {
    id,
    store_id: env.STORE,
    realm_id: realmId,
    name: "Bench",
    discovery_url: `${env.IDP}/.well-known/openid-configuration`,
    client_id: "the-store",
    sealed_client_secret: "",
    enabled: 1,
    flow: "brokered",
    provisioning: "create",
    metadata: metadataOf(env.IDP),
    created_at: now,
    updated_at: now,
  });
  return id;
}

function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = "", method } = request;
  const query = url.indexOf("?");
  const path = query === -1 ? url : url.slice(0, query);
  if (path.endsWith("/authorize")) return authorize(limit, url.slice(query + 1), response);
  if (path.endsWith("/callback")) return comeBack(limit, url.slice(query + 1), request, response);
  if (method !== "GET")
    return whenRead(request, (text) => {
      if (path === "/oauth/access_token") return giveToken(limit, text, response);
      if (path.startsWith("/v2/application-keys/")) return writeKey(limit, request, text, response);
      const { data } = JSON.parse(text);
      return data.password === undefined
        ? redeem(limit, request, data, response)
        : signIn(limit, request, data, response);
    });
  if (path === "/v2/customer-authentication-settings") return readSettings(limit, request, response);
  if (path.startsWith("/v2/authentication-realms/")) return readProfiles(limit, request, response);
  if (path.startsWith("/v2/application-keys/")) return readKey(limit, request, response);
  return readCustomer(limit, request, response);
}

limit.publicUrl = await listen(serve);
const customer = await makePassword(limit);
await checkPassword(limit, customer);
sendReady({
  url: limit.publicUrl,
  realmId: limit.realmId,
  profileId: limit.profileId,
  keyId: place.key,
  accessToken: signText(limit, `${limit.storeId}.${place.key}.cc`),
  implicitToken: signText(limit, `${limit.storeId}.${place.key}.im`),
  customer,
});
