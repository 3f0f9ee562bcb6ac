import { createHash, randomUUIDv7 } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { keyAnswer, profilesAnswer, settingsAnswer } from "./answers.ts";
import type { Row } from "./database.ts";
import { insertEvents } from "./limit-notes.ts";
import { type Limit, signText, storeOf } from "./limit-tokens.ts";
import { answerJson } from "./node-http.ts";

/** Requests of the back office: one HMAC to authenticate the caller, one statement. */

export async function readSettings(limit: Limit, request: IncomingMessage, response: ServerResponse) {
  const row = await limit.ask(
    "select * from customer_authentication_settings where store_id = ?",
    storeOf(limit, request),
  );
  answerJson(response, 200, settingsAnswer(limit, row as never));
}

export async function readProfiles(limit: Limit, request: IncomingMessage, response: ServerResponse) {
  const row = await limit.ask(
    "select * from oidc_profiles where store_id = ? and realm_id = ? order by created_at, id limit 25",
    storeOf(limit, request),
    limit.realmId,
  );
  answerJson(response, 200, profilesAnswer(limit, row as never));
}

const keyIdOf = ({ url = "" }: IncomingMessage): string => url.slice(url.lastIndexOf("/") + 1);

const KEY = `select k.*, s.created_at as secret_created_at, s.last_used_at as secret_last_used_at
  from application_keys k join application_key_secrets s on s.store_id = k.store_id and s.application_key_id = k.id
  where k.store_id = ? and k.id = ?`;

export async function readKey(limit: Limit, request: IncomingMessage, response: ServerResponse) {
  const row = await limit.ask(KEY, storeOf(limit, request), keyIdOf(request));
  answerJson(response, 200, keyAnswer(limit, row as never));
}

/**
 * Locks the store's row, under which Latchkey checks reservations, then writes the key and its event, and reads the
 * answer.
 */
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
    return ask(KEY, storeId, String(id));
  });
  answerJson(response, 200, keyAnswer(limit, row as never));
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
