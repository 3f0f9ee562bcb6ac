import {
  createHash,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  randomUUIDv7,
  verify,
} from "node:crypto";
import { Agent, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { SHOP } from "../workloads/steps.ts";
import { type Ask, insertRow, type Row } from "./database.ts";
import { insertCustomer, insertToken } from "./limit-customers.ts";
import { closeRecord, insertEvents, insertRecord } from "./limit-notes.ts";
import { type Limit, openText, signText, storeOf } from "./limit-tokens.ts";
import { answerJson, answerRedirect, readText } from "./node-http.ts";

/** A sign-on with its two signatures, one call to the identity provider and its durable writes. */

const sha256 = (text: string, form: "hex" | "base64url") => createHash("sha256").update(text).digest(form);

export async function authorize(limit: Limit, query: string, response: ServerResponse) {
  const asked = new URLSearchParams(query);
  const profile = await limit.ask(
    "select p.id, p.client_id from oidc_profiles p where p.store_id = ? and p.realm_id = ? and p.id = ?",
    limit.storeId,
    limit.realmId,
    asked.get("profile"),
  );
  const browser = randomBytes(32).toString("base64url");
  const verifier = randomBytes(32).toString("base64url");
  const attempt = [
    randomUUIDv7(),
    sha256(browser, "base64url"),
    asked.get("code_challenge"),
    asked.get("state"),
    verifier,
  ];
  const state = signText(limit, attempt.join("."));
  const there =
    `${limit.idp}/authorize?scope=openid%20email&response_type=code&client_id=${(profile as Row).client_id}` +
    `&redirect_uri=${encodeURIComponent(callbackUrl(limit))}&state=${state}&nonce=${attempt[0]}` +
    `&code_challenge_method=S256&code_challenge=${sha256(verifier, "base64url")}`;
  answerRedirect(response, there, `browser=${browser}; HttpOnly; SameSite=Lax`);
}

const callbackUrl = ({ publicUrl, storeId, realmId, profileId }: Limit): string =>
  `${publicUrl}/sign-on/stores/${storeId}/realms/${realmId}/profiles/${profileId}/callback`;

/**
 * The work: an insert that claims the attempt, a call that exchanges the code, a verified signature, an update that
 * issues the code, the record.
 */
export async function comeBack(
  limit: Limit,
  query: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const answered = new URLSearchParams(query);
  const [id = "", browserDigest, challenge = "", clientState = "", verifier = ""] = openText(
    limit,
    answered.get("state") ?? "",
  ).split(".");
  const browser = /browser=([^;]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
  if (sha256(browser, "base64url") !== browserDigest) throw new Error("another browser");
  const code = `lkac_${randomBytes(32).toString("base64url")}`;
  await insertRow(limit.ask, "sign_on_attempts", {
    id,
    store_id: limit.storeId,
    realm_id: limit.realmId,
    profile_id: limit.profileId,
    state: "returned",
    client_id: "customers",
    client_redirect_uri: SHOP,
    code_challenge: challenge,
    code_hash: sha256(code, "hex"),
    forget_at: Date.now() + 4_200_000,
  });
  const claims = await exchange(limit, answered.get("code") ?? "", verifier);
  if (claims.nonce !== id || claims.aud !== "the-store" || claims.exp * 1000 < Date.now())
    throw new Error("not for this sign-on");
  await limit.transact(async (ask) => {
    await ask(
      `update sign_on_attempts set state = 'code_issued', code_expires_at = ?, identity = ?, subject = ?
       where store_id = ? and id = ? and state = 'returned'`,
      Date.now() + 600_000,
      JSON.stringify({ issuer: claims.iss, subject: claims.sub, email: claims.email, name: claims.name }),
      claims.sub,
      limit.storeId,
      id,
    );
    await insertRecord(ask, { ...limit, id });
  });
  answerRedirect(response, `${SHOP}?code=${code}&state=${clientState}`);
}

const kept = new Agent({ keepAlive: true });

type Claims = Record<"iss" | "sub" | "aud" | "nonce" | "email" | "name", string> & { exp: number };

async function exchange(limit: Limit, code: string, verifier: string): Promise<Claims> {
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: callbackUrl(limit),
    code_verifier: verifier,
  }).toString();
  const headers = {
    Authorization: `Basic ${Buffer.from("the-store:a secret").toString("base64")}`,
    "Content-Type": "application/x-www-form-urlencoded",
    "Content-Length": form.length,
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    send(`${limit.idp}/token`, { method: "POST", agent: kept, headers }, resolve)
      .on("error", reject)
      .end(form);
  });
  const [header = "", claims = "", signature = ""] = JSON.parse(await readText(answer)).id_token.split(".");
  const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
  const key = limit.idpKeys.get(kid);
  if (!key || !verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url")))
    throw new Error("a bad signature");
  return JSON.parse(Buffer.from(claims, "base64url").toString());
}

/** Reads the provider's keys. */
export async function loadKeys(idp: string): Promise<Map<string, KeyObject>> {
  const { keys } = (await (await fetch(`${idp}/keys`)).json()) as { keys: (JsonWebKey & { kid: string })[] };
  return new Map(keys.map((key) => [key.kid, createPublicKey({ key, format: "jwk" })]));
}

type Identity = { issuer: string; subject: string; email: string; name: string };

/**
 * The work: a statement that burns the code, then customer, identity, token, events and record in its transaction, and
 * a signature.
 */
export async function redeem(
  limit: Limit,
  request: IncomingMessage,
  data: Record<string, string>,
  response: ServerResponse,
) {
  const storeId = storeOf(limit, request);
  const { oauth_authorization_code = "", oauth_redirect_uri, oauth_code_verifier = "" } = data;
  const answer = await limit.transact(async (ask) => {
    const now = Date.now();
    const attempt = (await ask(
      `update sign_on_attempts set state = 'exchanged', exchanged_at = ?
       where code_hash = ? and store_id = ? and state = 'code_issued' and code_expires_at > ? returning *`,
      now,
      sha256(oauth_authorization_code, "hex"),
      storeId,
      now,
    )) as Row;
    if (
      attempt.client_redirect_uri !== oauth_redirect_uri ||
      attempt.code_challenge !== sha256(oauth_code_verifier, "base64url")
    )
      throw new Error("a wrong redirect URI or verifier");
    const { customerId, events } = await findOrCreate(limit, ask, JSON.parse(attempt.identity as string));
    const token = await insertToken(limit, customerId, "oidc", ask);
    const { id } = token.data;
    await insertEvents(ask, storeId, customerId, [
      ...events,
      { type: "customer_token.created", subject: id, resource: { id }, personId: customerId },
    ]);
    await closeRecord(ask, storeId, attempt.id as string, customerId);
    return token;
  });
  answerJson(response, 200, answer);
}

/** The customer of this identity, with the events of a new customer. */
async function findOrCreate(limit: Limit, ask: Ask, { issuer, subject, name, email }: Identity) {
  const { storeId, realmId, profileId } = limit;
  const known = await ask(
    "select customer_id from customer_identities where store_id = ? and profile_id = ? and issuer = ? and subject = ?",
    storeId,
    profileId,
    issuer,
    subject,
  );
  if (known) return { customerId: known.customer_id as string, events: [] };
  const id = randomUUIDv7();
  await insertCustomer(limit, ask, { id, name, email, password_hash: null, mechanism: "oidc" });
  await insertRow(ask, "customer_identities", {
    id: randomUUIDv7(),
    store_id: storeId,
    realm_id: realmId,
    profile_id: profileId,
    issuer,
    client_id: "the-store",
    subject,
    customer_id: id,
    created_at: Date.now(),
  });
  const common = { subject: id, personId: id };
  const customer = { id, type: "customer", name, email };
  const linked = { id, type: "customer_identity", issuer, subject };
  return {
    customerId: id,
    events: [
      { ...common, type: "customer.created", resource: customer },
      { ...common, type: "customer.identity_linked", resource: linked },
    ],
  };
}
