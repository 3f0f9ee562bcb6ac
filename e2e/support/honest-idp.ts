import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import Provider from "oidc-provider";

/**
 * An identity provider that follows the specifications: the package `oidc-provider`, with one confidential client and a
 * login page that needs no click.
 */
export type HonestIdp = {
  origin: string;
  discoveryUrl: string;
  clientId: string;
  clientSecret: string;
  /** The person at the login page. */
  person: Person;
  /** Whether that person refuses. */
  refuses: boolean;
  /** The requests, in order. */
  journal: Entry[];
  /** The number of requests for a path. */
  asked(path: string): number;
  /** Registers the service's addresses for the client. */
  register(addresses: Addresses): void;
  /** Replaces the signing key at once: the old one is gone from the key set. */
  rotateKey(): void;
  /** The address that gets logout tokens. */
  deliver: (request: Request) => Response | Promise<Response>;
  /**
   * Follows the redirects inside the provider, signs the person in, and returns the address to which the provider
   * redirects at last.
   */
  walk(location: string, jar: CookieJar, person?: Person): Promise<string>;
  /** The person signs out there, in this browser. */
  signOut(jar: CookieJar): Promise<void>;
  close(): Promise<void>;
};

export type Person = { sub: string; email?: string; email_verified?: boolean; name?: string };
type Entry = { method: string; path: string; query: string; authorization: string | undefined };
type Algorithm = "RS256" | "ES256";

type Addresses = {
  callback: string;
  logout?: string;
  /** Whether logout tokens and ID tokens name the session, besides the person. */
  namesSession?: boolean;
};

export type HonestIdpOptions = { algorithm?: Algorithm; emailIn?: "userinfo" | "id_token" };

export const GRACE: Person = {
  sub: "grace-1906",
  email: "grace@shop.example",
  email_verified: true,
  name: "Grace Hopper",
};

const MAX_HOPS = 20;
/** Many people sign in at once: a cookie of the browser names the person. */
const PERSON = "x-person";

export async function startHonestIdp(options: HonestIdpOptions = {}): Promise<HonestIdp> {
  const { algorithm = "RS256", emailIn = "userinfo" } = options;
  const people = new Map<string, Person>();
  const memory = createMemory();
  const cookieKeys = [randomBytes(16).toString("hex")];
  let keys = [newKey(algorithm)];
  let addresses: Addresses = { callback: "https://keys.example/not-registered-yet" };

  const server = createServer((request, response) => {
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const { authorization } = request.headers;
    idp.journal.push({ method: request.method ?? "", path, query, authorization });
    if (path.startsWith("/interaction/")) void interact(request, response);
    else provider.callback()(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;

  const idp: HonestIdp = {
    origin,
    discoveryUrl: `${origin}/.well-known/openid-configuration`,
    clientId: "the-store",
    clientSecret: randomBytes(24).toString("base64url"),
    person: GRACE,
    refuses: false,
    journal: [],
    asked: (path) => idp.journal.filter((entry) => entry.path === path).length,
    register(given) {
      addresses = given;
      provider = restart();
    },
    rotateKey() {
      keys = [newKey(algorithm)];
      provider = restart();
    },
    deliver: () => {
      throw new Error("nobody has said where logout tokens go");
    },
    async walk(location, jar, person = idp.person) {
      people.set(person.sub, person);
      let at = location;
      for (let hops = 0; at.startsWith(`${origin}/`); hops++) {
        const headers = { ...jar.headersFor(at), [PERSON]: person.sub };
        const response = await fetch(at, { redirect: "manual", headers });
        jar.keep(at, response);
        const text = await response.text();
        const next = response.headers.get("location");
        if (next === null || hops > MAX_HOPS)
          throw new Error(`stuck at the identity provider, which answers ${response.status}: ${text}`);
        at = new URL(next, at).href;
      }
      return at;
    },
    async signOut(jar) {
      const page = `${origin}/session/end`;
      const shown = await fetch(page, { headers: jar.headersFor(page) });
      jar.keep(page, shown);
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(await shown.text())?.[1] ?? "";
      const confirm = `${page}/confirm`;
      const done = await fetch(confirm, {
        method: "POST",
        redirect: "manual",
        headers: jar.headersFor(confirm),
        body: new URLSearchParams({ xsrf, logout: "yes" }),
      });
      jar.keep(confirm, done);
      if (done.status !== 303) throw new Error(`the identity provider answers ${done.status} to a sign-out`);
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  let provider = restart();

  /** The provider reads its settings once; stored sessions and cookies live on. */
  function restart(): Interactive {
    const client = {
      client_id: idp.clientId,
      client_secret: idp.clientSecret,
      redirect_uris: [addresses.callback],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_basic",
      id_token_signed_response_alg: algorithm,
      ...(addresses.logout && {
        backchannel_logout_uri: addresses.logout,
        backchannel_logout_session_required: addresses.namesSession ?? false,
      }),
    };
    return new Provider(origin, {
      adapter: memory,
      clients: [client],
      jwks: { keys },
      cookies: { keys: cookieKeys },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      conformIdTokenClaims: emailIn === "userinfo",
      pkce: { required: () => true },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          logoutSource(page: { body: string }, form: string) {
            page.body = form;
          },
        },
      },
      ttl: { AccessToken: 300, Grant: 3600, IdToken: 300, Interaction: 600, Session: 3600 },
      findAccount: (_: unknown, sub: string) => {
        const person = people.get(sub);
        return person && { accountId: sub, claims: () => person };
      },
      fetch: (url: string, { method, headers, body }: RequestInit) =>
        idp.deliver(new Request(url, { method, headers, body } as RequestInit)),
    }) as Provider & Interactive;
  }

  /** Answers the login page and the consent page without showing them. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (idp.refuses) return provider.interactionFinished(request, response, { error: "access_denied" });
    if (prompt.name === "login") {
      people.set(idp.person.sub, idp.person);
      const login = { accountId: String(request.headers[PERSON] ?? idp.person.sub) };
      return provider.interactionFinished(request, response, { login });
    }
    const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const grant =
      known ?? new provider.Grant({ accountId: session?.accountId ?? "", clientId: params.client_id });
    grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(" "));
    const consent = { grantId: await grant.save() };
    return provider.interactionFinished(request, response, { consent });
  }

  return idp;
}

/** The used part of the package, which has no types. */
type Interactive = Provider & {
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  Grant: {
    new (of: { accountId: string; clientId: string }): Grant;
    find(id: string): Promise<Grant | undefined>;
  };
};
type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> };
type Interaction = {
  prompt: { name: string; details: { missingOIDCScope?: string[] } };
  params: { client_id: string };
  session?: { accountId: string };
  grantId?: string;
};

function newKey(algorithm: Algorithm): object {
  const { privateKey } =
    algorithm === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", alg: algorithm };
}

type Row = { uid?: string; grantId?: string; consumed?: number };

/** Its database. */
function createMemory() {
  const rows = new Map<string, Row>();
  return (model: string) => {
    const keyOf = (id: string) => `${model} ${id}`;
    return {
      upsert: async (id: string, row: Row) => void rows.set(keyOf(id), row),
      find: async (id: string) => rows.get(keyOf(id)),
      findByUid: async (uid: string) => [...rows.values()].find((row) => row.uid === uid),
      findByUserCode: async () => undefined,
      consume: async (id: string) => {
        const row = rows.get(keyOf(id));
        if (row) row.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id: string) => void rows.delete(keyOf(id)),
      revokeByGrantId: async (grantId: string) => {
        for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key);
      },
    };
  };
}

/** A browser's cookies, by path: several tabs have several of the same name, under several paths. */
export type CookieJar = {
  headersFor(url: string): Record<string, string>;
  keep(url: string, response: Response): void;
};

type Cookie = { origin: string; name: string; path: string; value: string };

export function newCookieJar(): CookieJar {
  let cookies: Cookie[] = [];
  return {
    headersFor(url) {
      const { origin, pathname } = new URL(url);
      const sent = cookies
        .filter((cookie) => cookie.origin === origin && isWithin(pathname, cookie.path))
        .toSorted((one, other) => other.path.length - one.path.length);
      if (sent.length === 0) return {};
      return { cookie: sent.map(({ name, value }) => `${name}=${value}`).join("; ") };
    },
    keep(url, response) {
      const { origin } = new URL(url);
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? "/";
        cookies = cookies.filter(
          (cookie) => !(cookie.origin === origin && cookie.name === name && cookie.path === path),
        );
        if (!/; *expires=Thu, 01 Jan 1970/i.test(line)) cookies.push({ origin, name, path, value });
      }
    },
  };
}

/** RFC 6265 5.1.4. */
const isWithin = (pathname: string, path: string): boolean =>
  pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
