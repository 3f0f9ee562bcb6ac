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
import type { Row } from "./database.ts";
import { insertToken } from "./limit-customers.ts";
import { closeRecord, insertEvents, insertRecord } from "./limit-notes.ts";
import { type Limit, openText, signText, storeOf } from "./limit-tokens.ts";
import { answerJson, answerRedirect, readText } from "./node-http.ts";

/** A sign-on with nothing but its two signatures, its one call to the identity provider and its durable writes. */

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

const SHOP = "https://shop.example/signed-in";

/** One insert claims the attempt, one call asks the provider, one signature is verified, one update gives the code, with the record. */
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
  const forgetAt = Date.now() + 4_200_000;
  await limit.ask(
    `insert into sign_on_attempts (id, store_id, realm_id, profile_id, state, client_id, client_redirect_uri, code_challenge, code_hash, forget_at)
     values (?, ?, ?, ?, 'returned', 'customers', ?, ?, ?, ?)`,
    id,
    limit.storeId,
    limit.realmId,
    limit.profileId,
    SHOP,
    challenge,
    sha256(code, "hex"),
    forgetAt,
  );
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

type Claims = {
  iss: string;
  sub: string;
  aud: string;
  nonce: string;
  exp: number;
  email: string;
  name: string;
};

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

/** The provider's keys, read once. */
export async function loadKeys(idp: string): Promise<Map<string, KeyObject>> {
  const { keys } = (await (await fetch(`${idp}/keys`)).json()) as { keys: (JsonWebKey & { kid: string })[] };
  return new Map(keys.map((key) => [key.kid, createPublicKey({ key, format: "jwk" })]));
}

/** One statement burns the code; identity, customer, token, events and the record are written with it; one signature. */
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
      throw new Error("not the one who began");
    const identity = JSON.parse(attempt.identity as string);
    const known = await ask(
      "select customer_id from customer_identities where store_id = ? and profile_id = ? and issuer = ? and subject = ?",
      storeId,
      limit.profileId,
      identity.issuer,
      identity.subject,
    );
    const customerId = (known?.customer_id as string | undefined) ?? randomUUIDv7();
    if (!known) {
      await ask(
        `insert into customers (id, store_id, name, email, email_key, email_verified, authentication_mechanism, created_at, updated_at)
         values (?, ?, ?, ?, ?, 1, 'oidc', ?, ?)`,
        customerId,
        storeId,
        identity.name,
        identity.email,
        identity.email,
        now,
        now,
      );
      await ask(
        `insert into customer_identities (id, store_id, realm_id, profile_id, issuer, client_id, subject, customer_id, created_at)
         values (?, ?, ?, ?, ?, 'the-store', ?, ?, ?)`,
        randomUUIDv7(),
        storeId,
        limit.realmId,
        limit.profileId,
        identity.issuer,
        identity.subject,
        customerId,
        now,
      );
    }
    const token = await insertToken(limit, customerId, "oidc", ask);
    const { name, email, issuer, subject } = identity;
    const customer = { id: customerId, type: "customer", name, email };
    const linked = { id: customerId, type: "customer_identity", issuer, subject };
    await insertEvents(ask, storeId, customerId, [
      ...(known
        ? []
        : [
            { type: "customer.created", subject: customerId, resource: customer, personId: customerId },
            { type: "customer.identity_linked", subject: customerId, resource: linked, personId: customerId },
          ]),
      {
        type: "customer_token.created",
        subject: token.data.id,
        resource: { id: token.data.id },
        personId: customerId,
      },
    ]);
    await closeRecord(ask, storeId, attempt.id as string, customerId);
    return token;
  });
  answerJson(response, 200, answer);
}
