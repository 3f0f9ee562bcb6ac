import { createApplicationKey } from "../../src/contract/application-keys.ts";
import { realmToken, userinfo } from "../../src/contract/sign-on.ts";
import { type Answer, type Call, call } from "./call.ts";
import { type Federation, SHOP, type SignedOn } from "./federation.ts";

/**
 * A client of a realm, like the client of the OpenID Foundation's suite; `undefined` leaves an optional parameter out.
 */

export type Changes = Record<string, string | undefined>;

export type StandardKey = { id: string; clientId: string; clientSecret: string };

/** An application key of the store, of the usual kind unless another is given. */
export async function makeKey(f: Federation, openid_client?: "pkce" | "standard"): Promise<StandardKey> {
  const data = { type: "application_key", name: "A program", ...(openid_client && { openid_client }) };
  const { body } = await f.store.call(createApplicationKey, { json: { data } });
  return { id: body.data.id, clientId: body.data.client_id, clientSecret: body.data.client_secret };
}

/** The parameters of a `standard` key at authorize: a nonce, and no challenge. */
export const withoutChallenge = ({ clientId }: Pick<StandardKey, "clientId">, more: Changes = {}) => ({
  client_id: clientId,
  nonce: "its-nonce",
  code_challenge: undefined,
  code_challenge_method: undefined,
  ...more,
});

export const basic = ({ clientId, clientSecret }: Pick<StandardKey, "clientId" | "clientSecret">) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`,
});

/** Calls the realm's token endpoint, without a verifier and a client unless the changes or the request have them. */
export function redeemAtRealm(
  f: Federation,
  { code }: Pick<SignedOn, "code">,
  changes: Changes = {},
  request: Call = {},
): Promise<Answer> {
  const fields = { grant_type: "authorization_code", code, redirect_uri: SHOP, ...changes };
  const form = Object.fromEntries(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const ids = { store: f.store.store.id, realm: f.realmId };
  return call(f.latchkey.app, realmToken, { ids, form, ...request });
}

export const askUserinfo = (f: Federation, token: string): Promise<Answer> =>
  call(f.latchkey.app, userinfo, {
    ids: { store: f.store.store.id, realm: f.realmId },
    headers: { authorization: `Bearer ${token}` },
  });
