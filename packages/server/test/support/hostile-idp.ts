import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/**
 * An identity provider that a test controls. Each step has a hook that may answer instead of the honest code, and a
 * journal of the requests, so that a test can check that there was none.
 */
export type HostileIdp = {
  origin: string;
  issuer: string;
  discoveryUrl: string;
  clientId: string;
  clientSecrets: string[];
  hooks: Hooks;
  journal: {
    method: string;
    path: string;
    authorization: string | undefined;
    cookie: string | undefined;
    body: string;
  }[];
  /** The number of requests for a path. */
  asked(path: string): number;
  /** Makes a new signing key; the old one leaves the key set unless it is kept. */
  rotateKey(options?: { keep?: boolean }): void;
  signToken(claims: object, header?: object): string;
  /** The provider's own clock. */
  now: () => number;
  /** The next person to sign in. */
  person: Document;
  /** Signs a person in at this address of the provider; returns the address of the redirect back. */
  signIn(location: string): string;
  close(): Promise<void>;
};

type Document = Record<string, unknown>;
/** A hook that returns `honest` leaves the request to the honest code. */
type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => unknown;

export type Hooks = {
  /** Changes the discovery document. */
  discovery?: (document: Document) => unknown;
  /** Changes the key set. */
  keys?: (keySet: { keys: Document[] }) => unknown;
  /** Changes the claims of the ID token. */
  claims?: (claims: Document) => object;
  /** Changes the header of the ID token. */
  header?: object;
  /** Changes the redirect back. */
  redirect?: (parameters: Record<string, string>) => Record<string, string>;
  /** Changes the answer of the token endpoint. */
  token?: (answer: Document, form: URLSearchParams) => unknown;
  userinfo?: (claims: Document) => unknown;
  /** Header fields of every honest answer. */
  headers?: Record<string, string>;
  /** Answers a path by itself: raw bytes, no answer, one byte a second. */
  answer?: Record<string, Answer>;
};

type SigningKey = { kid: string; privateKey: KeyObject; jwk: Document };

function newKey(index: number): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const kid = `key-${index}`;
  return { kid, privateKey, jwk: { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" } };
}

export async function startHostileIdp(): Promise<HostileIdp> {
  let keys = [newKey(1)];
  let made = 1;
  const server: Server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const current = () => keys.at(-1) as SigningKey;
  const asked = new Map<string, URLSearchParams>();
  let codes = 0;

  const idp: HostileIdp = {
    origin,
    issuer: origin,
    discoveryUrl: `${origin}/.well-known/openid-configuration`,
    clientId: "the-store",
    clientSecrets: ["first secret"],
    hooks: {},
    journal: [],
    asked: (path) => idp.journal.filter((entry) => entry.path === path).length,
    rotateKey({ keep = false } = {}) {
      keys = [...(keep ? keys : []), newKey(++made)];
    },
    signToken(claims, header = {}) {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const signed = `${part({ alg: "ES256", kid: current().kid, ...header })}.${part(claims)}`;
      const key = { key: current().privateKey, dsaEncoding: "ieee-p1363" as const };
      return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
    },
    now: Date.now,
    person: { ...ADA },
    signIn(location) {
      const { searchParams } = new URL(location);
      const code = `idp-code-${++codes}`;
      asked.set(code, searchParams);
      const honest = { code, state: searchParams.get("state") ?? "" };
      const parameters = idp.hooks.redirect ? idp.hooks.redirect(honest) : honest;
      return `${searchParams.get("redirect_uri")}?${new URLSearchParams(parameters)}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  const honest: Record<string, (body: string) => unknown> = {
    "/.well-known/openid-configuration": () => change(idp.hooks.discovery, discoveryDocument(idp)),
    "/keys": () => change(idp.hooks.keys, { keys: keys.map(({ jwk }) => jwk) }),
    "/token": (body) => {
      const form = new URLSearchParams(body);
      const request = asked.get(form.get("code") ?? "");
      const answer = { access_token: "at", token_type: "Bearer", expires_in: 60, ...redeem(request, form) };
      return idp.hooks.token ? idp.hooks.token(answer, form) : answer;
    },
    "/userinfo": () => change(idp.hooks.userinfo, { sub: idp.person.sub }),
  };

  /** A code works once, with its verifier and with the redirect URI of its request. */
  function redeem(request: URLSearchParams | undefined, form: URLSearchParams): Document {
    if (!request) return {};
    asked.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      challenge === request.get("code_challenge") && form.get("redirect_uri") === request.get("redirect_uri");
    if (!isRight) return { error: "invalid_grant" };
    const nowSeconds = Math.floor(idp.now() / 1000);
    const claims = {
      iss: idp.issuer,
      aud: request.get("client_id"),
      iat: nowSeconds,
      exp: nowSeconds + 300,
      nonce: request.get("nonce") ?? undefined,
      ...idp.person,
    };
    return { id_token: idp.signToken(change(idp.hooks.claims, claims) as object, idp.hooks.header) };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split("?")[0] ?? "";
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    idp.journal.push({
      method: request.method ?? "",
      path,
      authorization: request.headers.authorization,
      cookie: request.headers.cookie,
      body,
    });
    const raw = idp.hooks.answer?.[path];
    if (raw && (await raw(request, response, body)) !== "honest") return;
    const answer = honest[path]?.(body);
    if (answer === undefined) {
      response.writeHead(404).end();
      return;
    }
    response
      .writeHead(200, { "Content-Type": "application/json", ...idp.hooks.headers })
      .end(JSON.stringify(answer));
  }

  return idp;
}

/** A person with a verified address. */
export const ADA: Document = {
  sub: "subject",
  email: "ada@shop.example",
  email_verified: true,
  name: "Ada Lovelace",
  sid: "session-1",
};

const change = <T>(hook: ((value: T) => unknown) | undefined, value: T): unknown =>
  hook ? hook(value) : value;

const discoveryDocument = ({ issuer, origin }: HostileIdp): Document => ({
  issuer,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  userinfo_endpoint: `${origin}/userinfo`,
  jwks_uri: `${origin}/keys`,
  response_types_supported: ["code"],
  grant_types_supported: ["authorization_code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["ES256"],
  token_endpoint_auth_methods_supported: ["client_secret_basic"],
  scopes_supported: ["openid", "email"],
  claims_supported: ["sub", "email", "email_verified"],
  code_challenge_methods_supported: ["S256"],
});
