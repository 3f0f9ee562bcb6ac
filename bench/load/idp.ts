import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readText } from "../yardsticks/node-http.ts";

/**
 * The identity provider of the benchmark, in a process of its own. A code works once, PKCE is checked and ID tokens are
 * signed with RS256. There is no login: the parameter `person` of the authorization request names the person.
 */
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const KEY_ID = "key-1";
const codes = new Map<string, { request: URLSearchParams; person: string }>();

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", origin);
  const answer = (status: number, body: object) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  if (pathname === "/authorize") {
    const code = randomBytes(24).toString("base64url");
    codes.set(code, { request: searchParams, person: searchParams.get("person") ?? "unknown" });
    const back = new URLSearchParams({ code, state: searchParams.get("state") ?? "" });
    response.writeHead(302, { Location: `${searchParams.get("redirect_uri")}?${back}` }).end();
  } else if (pathname === "/token") {
    const idToken = redeem(new URLSearchParams(await readText(request)));
    if (idToken === undefined) answer(400, { error: "invalid_grant" });
    else answer(200, { access_token: "opaque", token_type: "Bearer", expires_in: 300, id_token: idToken });
  } else if (pathname === "/keys") {
    const jwk = publicKey.export({ format: "jwk" });
    answer(200, { keys: [{ ...jwk, kid: KEY_ID, use: "sig", alg: "RS256" }] });
  } else if (pathname === "/.well-known/openid-configuration") {
    answer(200, discoveryDocument());
  } else {
    answer(404, { error: "not_found" });
  }
});

function redeem(form: URLSearchParams): string | undefined {
  const code = form.get("code") ?? "";
  const found = codes.get(code);
  codes.delete(code);
  if (!found) return undefined;
  const { request, person } = found;
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  // dex sends an authorization request without PKCE.
  const isProven = challenge === request.get("code_challenge") || !request.has("code_challenge");
  if (!isProven || form.get("redirect_uri") !== request.get("redirect_uri")) return undefined;
  const now = Math.floor(Date.now() / 1000);
  return signToken({
    iss: origin,
    aud: request.get("client_id"),
    sub: `subject-${person}`,
    email: `person-${person}@shop.example`,
    email_verified: true,
    name: `Person ${person}`,
    nonce: request.get("nonce") ?? undefined,
    iat: now,
    exp: now + 300,
  });
}

function signToken(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", kid: KEY_ID })}.${part(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}

const discoveryDocument = (): object => ({
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  jwks_uri: `${origin}/keys`,
  response_types_supported: ["code"],
  grant_types_supported: ["authorization_code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
  token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
  scopes_supported: ["openid", "email", "profile"],
  claims_supported: ["sub", "email", "email_verified", "name"],
  code_challenge_methods_supported: ["S256"],
});

// Longer than any pause between rounds: a kept connection that closes at its next use would fail a sign-on.
server.keepAliveTimeout = 600_000;
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
process.send?.({ ready: { origin } });
