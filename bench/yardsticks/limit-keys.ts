import { createHash, randomUUIDv7 } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Row } from "./database.ts";
import { insertEvents } from "./limit-notes.ts";
import { type Limit, signText, storeOf } from "./limit-tokens.ts";
import { answerJson } from "./node-http.ts";

/** Reads and writes of the back office: one HMAC to know the caller, one statement each. */

export async function readSettings(limit: Limit, request: IncomingMessage, response: ServerResponse) {
  const row = await limit.ask(
    "select * from customer_authentication_settings where store_id = ?",
    storeOf(limit, request),
  );
  const { store_id: id, client_id, realm_id } = row as Row;
  answerJson(response, 200, {
    data: { id, type: "customer-authentication-settings", client_id, realm_id, meta: { client_id } },
  });
}

export async function readProfiles(limit: Limit, request: IncomingMessage, response: ServerResponse) {
  const row = await limit.ask(
    "select * from oidc_profiles where store_id = ? and realm_id = ? order by created_at, id limit 25",
    storeOf(limit, request),
    limit.realmId,
  );
  const { id, name, discovery_url, client_id } = row as Row;
  answerJson(response, 200, { data: [{ id, type: "oidc-profile", name, discovery_url, client_id }] });
}

const keyIdOf = ({ url = "" }: IncomingMessage): string => url.slice(url.lastIndexOf("/") + 1);

function answerKey(response: ServerResponse, row: Row | undefined): void {
  const { id, name, client_id, reserved_rate_limit, created_at, updated_at } = row as Row;
  const timestamps = {
    created_at: new Date(created_at as number).toISOString(),
    updated_at: new Date(updated_at as number).toISOString(),
  };
  answerJson(response, 200, {
    data: { id, type: "application_key", name, client_id, reserved_rate_limit, meta: { timestamps } },
  });
}

export async function readKey(limit: Limit, request: IncomingMessage, response: ServerResponse) {
  const storeId = storeOf(limit, request);
  answerKey(
    response,
    await limit.ask(
      "select * from application_keys where store_id = ? and id = ?",
      storeId,
      keyIdOf(request),
    ),
  );
}

/** The store's row is the lock under which a reservation is checked, as in Latchkey; then one update of the key, and its event. */
export async function writeKey(
  limit: Limit,
  request: IncomingMessage,
  text: string,
  response: ServerResponse,
) {
  const storeId = storeOf(limit, request);
  const { data } = JSON.parse(text);
  const row = await limit.transact(async (ask) => {
    await ask("update stores set revision = revision + 1 where id = ? returning rate_limit", storeId);
    const changed = await ask(
      `update application_keys set name = ?, reserved_rate_limit = ?, updated_at = ?
       where store_id = ? and id = ? returning *`,
      data.name,
      data.reserved_rate_limit,
      Date.now(),
      storeId,
      keyIdOf(request),
    );
    const { id, name, client_id, reserved_rate_limit } = changed as Row;
    const resource = { id, type: "application_key", name, client_id, reserved_rate_limit };
    await insertEvents(ask, storeId, String(id), [
      { type: "application_key.updated", subject: String(id), resource },
    ]);
    return changed;
  });
  answerKey(response, row);
}

/** client_credentials: one hash of the secret, one read, one HMAC. */
export async function giveToken(limit: Limit, text: string, response: ServerResponse) {
  const form = new URLSearchParams(text);
  const row = await limit.ask(
    `select k.id, k.store_id from application_keys k
     join application_key_secrets s on s.store_id = k.store_id and s.application_key_id = k.id
     where k.client_id = ? and s.secret_hash = ?`,
    form.get("client_id"),
    createHash("sha256")
      .update(form.get("client_secret") ?? "")
      .digest("hex"),
  );
  const { id, store_id } = row as Row;
  answerJson(response, 200, {
    access_token: signText(limit, `${store_id}.${id}.${randomUUIDv7()}`),
    token_type: "Bearer",
    expires_in: 3600,
  });
}
