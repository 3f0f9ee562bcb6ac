import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import Provider from "oidc-provider";
import * as upstream from "openid-client";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { sendReady } from "./node-http.ts";
import { openAdapter } from "./oidc-adapter.ts";

/**
 * A broker that a team would build from npm packages: oidc-provider with its data in SQLite, and openid-client to send
 * the shopper from the login page to the identity provider. First-party clients skip consent by `loadExistingGrant`, as
 * oidc-provider's documentation shows.
 */
const { DATABASE, IDP = "" } = process.env as { DATABASE: string; IDP?: string };
const { adapter, saveAccount, findAccount } = openAdapter(DATABASE);
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const clientSecret = randomBytes(32).toString("base64url");
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const scope = "openid email";

const provider = new Provider(url, {
  adapter,
  clients: [
    {
      client_id: "shop",
      redirect_uris: ["https://shop.example/signed-in"],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      id_token_signed_response_alg: "ES256",
    },
    {
      client_id: "back-office",
      client_secret: clientSecret,
      redirect_uris: [],
      grant_types: ["client_credentials"],
      response_types: [],
      token_endpoint_auth_method: "client_secret_post",
      id_token_signed_response_alg: "ES256",
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "ES256" }] },
  cookies: { keys: [randomBytes(16).toString("hex")] },
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 600,
    ClientCredentials: 3600,
    Grant: 86_400,
    IdToken: 3600,
    Interaction: 600,
    Session: 86_400,
  },
  findAccount: (_: unknown, id: string) => findAccount(id),
  async loadExistingGrant({ oidc }: Context) {
    const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope(scope);
    await grant.save();
    return grant;
  },
}) as Interactive;
const idp = await upstream.discovery(new URL(IDP), "the-store", "a secret", undefined, {
  execute: [upstream.allowInsecureRequests],
});

/** Redirects to the identity provider. A cookie of this interaction keeps state, nonce and verifier. */
async function toIdp(response: ServerResponse, uid: string): Promise<void> {
  const kept = {
    state: upstream.randomState(),
    nonce: upstream.randomNonce(),
    verifier: upstream.randomPKCECodeVerifier(),
  };
  const there = upstream.buildAuthorizationUrl(idp, {
    redirect_uri: `${url}/interaction/${uid}/callback`,
    scope,
    state: kept.state,
    nonce: kept.nonce,
    code_challenge: await upstream.calculatePKCECodeChallenge(kept.verifier),
    code_challenge_method: "S256",
  });
  const cookie = `upstream=${encodeURIComponent(JSON.stringify(kept))}; Path=/interaction/${uid}; HttpOnly; SameSite=Lax`;
  response.writeHead(303, { Location: there.href, "Set-Cookie": cookie, "Content-Length": 0 }).end();
}

async function fromIdp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = /upstream=([^;]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
  const kept = JSON.parse(decodeURIComponent(text));
  const tokens = await upstream.authorizationCodeGrant(idp, new URL(request.url ?? "", url), {
    expectedState: kept.state,
    expectedNonce: kept.nonce,
    pkceCodeVerifier: kept.verifier,
  });
  const { sub, email, email_verified } = tokens.claims() as upstream.IDToken;
  saveAccount(sub, { email, email_verified });
  await provider.interactionFinished(request, response, { login: { accountId: sub } });
}

const callback = provider.callback();
createServer((request, response) => {
  const [, uid, isBack] = /^\/interaction\/([^/?]+)(\/callback)?/.exec(request.url ?? "") ?? [];
  if (uid === undefined) return callback(request, response);
  const work = isBack ? fromIdp(request, response) : toIdp(response, uid);
  work.catch((error) => response.writeHead(500).end(String(error)));
}).listen(port, "127.0.0.1", () => sendReady({ url, clientId: "back-office", clientSecret }));

/** The used part of oidc-provider, which has no types. */
type Context = { oidc: { client: { clientId: string }; session: { accountId: string } } };
type Interactive = Provider & {
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  Grant: new (of: {
    accountId: string;
    clientId: string;
  }) => {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  };
};
