import { hash, randomBytes } from "node:crypto";
import { CLI_CLIENT_ID } from "../../contract/access-tokens.ts";
import { limits } from "../../contract/limits.ts";
import { isLocalUrl } from "../../lib/local-url.ts";
import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import { withoutSlashes } from "../../lib/slashes.ts";
import { quoted } from "../options.ts";
import { readJson } from "../read-json.ts";
import { ask } from "./ask.ts";
import { type KeptSession, keepSession } from "./kept-session.ts";
import { listenOnLoopback } from "./loopback.ts";
import { openBrowser } from "./open-browser.ts";

type LoginOptions = { argument: string; store: string | undefined; "no-browser": boolean; json: boolean };

const ANSWERS_WITHIN_MS = 10_000;

/** Signs a member in through the browser (RFC 8252): PKCE, `state`, and a redirect to this process. */
export async function login(given: LoginOptions): Promise<void> {
  const url = readServiceUrl(given.argument.trim());
  const issuer = await findIssuer(url, given.store);
  const [state, verifier] = [newSecret(), newSecret()];
  const loopback = await listenOnLoopback(state);
  try {
    const { redirectUri } = loopback;
    const address = authorizeUrl(issuer, { redirectUri, state, verifier });
    console.error(`Sign in with the browser of this machine, at this address:\n\n  ${address}\n`);
    if (!given["no-browser"]) openBrowser(address);
    const answer = await loopback.answered(limits.attemptSeconds * 1000);
    const code = readCode(answer, issuer);
    const session = await redeem(url, { code, redirectUri, verifier });
    const file = keepSession(process.env, session);
    const { access_token: _, ...shown } = session;
    console.log(given.json ? JSON.stringify(shown) : describe(session, file));
  } finally {
    loopback.close();
  }
}

const newSecret = (): string => randomBytes(32).toString("base64url");

function readServiceUrl(given: string): string {
  if (!/^https?:\/\/./.test(given) || !URL.canParse(given))
    throw usageFault(
      `<url> must be the service's address, such as https://keys.example, not ${quoted(given)}`,
    );
  const { protocol, origin, pathname, search, hash: fragment, username } = new URL(given);
  if (search || fragment || username)
    throw usageFault("<url> is the service's address alone, without a query, a fragment or a user");
  if (protocol === "http:" && !isLocalUrl(given))
    throw usageFault(
      "<url> must begin with https://, because the access token travels there; http:// is for this machine",
    );
  return withoutSlashes(`${origin}${pathname}`);
}

/** The issuer of the store's realm for members. */
async function findIssuer(url: string, store: string | undefined): Promise<string> {
  const query = store === undefined ? "" : `?${new URLSearchParams({ store })}`;
  const { data } = await call<{ data?: { issuer?: string }[] }>(`${url}/sign-on/members${query}`);
  const [found] = data ?? [];
  const { issuer = "" } = found ?? {};
  if (issuer.startsWith(`${url}/sign-on/stores/`)) return issuer;
  // Under another name the browser would lose the cookie of the sign-on, and the answer would name another issuer.
  if (found) {
    const named = /^(https?:\/\/[\w.:[\]/-]+)\/sign-on\/stores\//.exec(issuer)?.[1];
    throw operatorFault(
      named
        ? `the service's own address is another: run \`latchkey login ${named}\``
        : `${url} is no Latchkey, or an older one`,
    );
  }
  throw operatorFault(
    store === undefined
      ? `${url} has no store with members, or several: add --store <store>`
      : `${url} has no store ${quoted(store)} with members; \`latchkey member add\` adds the first one`,
  );
}

type BegunLogin = { redirectUri: string; state: string; verifier: string };

const authorizeUrl = (issuer: string, { redirectUri, state, verifier }: BegunLogin): string =>
  `${issuer}/authorize?${new URLSearchParams({
    scope: "openid email",
    response_type: "code",
    client_id: CLI_CLIENT_ID,
    redirect_uri: redirectUri,
    state,
    code_challenge_method: "S256",
    code_challenge: hash("sha256", verifier, "base64url"),
  })}`;

/** `iss` is compared first (RFC 9207): an answer of another service has no meaning here. */
function readCode(answer: URLSearchParams, issuer: string): string {
  if (answer.get("iss") !== issuer)
    throw operatorFault("the answer came from another issuer: run the command again");
  const error = answer.get("error");
  if (error === null) return answer.get("code") ?? "";
  const reference = /^[\w-]{1,32}$/.exec(answer.get("reference") ?? "")?.[0];
  const why = quoted(answer.get("error_description") ?? error);
  throw operatorFault(`the sign-in failed: ${why}${reference ? ` (reference ${reference})` : ""}`);
}

type Granted = { access_token: string; expires: number };
type Me = { data: { name: string; role: string; store: { id: string; name: string } } };

async function redeem(
  url: string,
  { code, redirectUri, verifier }: { code: string; redirectUri: string; verifier: string },
): Promise<KeptSession> {
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: CLI_CLIENT_ID,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  const { access_token, expires } = await call<Granted>(`${url}/oauth/access_token`, { form });
  const { name, role, store } = (await call<Me>(`${url}/v2/me`, { token: access_token })).data;
  return { url, store, name, role, access_token, expires_at: new Date(expires * 1000).toISOString() };
}

type Refused = { errors?: { detail?: string }[] };

/** The JSON of a successful answer. */
async function call<T>(url: string, sent?: Parameters<typeof ask>[2]): Promise<T> {
  const { origin } = new URL(url);
  const { status, text } = await ask(url, AbortSignal.timeout(ANSWERS_WITHIN_MS), sent).catch((cause) => {
    throw operatorFault(`no service answers at ${origin} (${cause.code ?? cause.name})`, cause);
  });
  const body = readJson<T & Refused>(text);
  if (status === 200 && body) return body;
  const detail = body?.errors?.[0]?.detail;
  throw operatorFault(`${origin} answers ${status}: ${detail === undefined ? quoted(text) : quoted(detail)}`);
}

const describe = ({ name, role, store, expires_at }: KeptSession, file: string): string =>
  `You are signed in at ${store.name} as ${name}, ${role}, until ${expires_at}.
The access token is in ${file}. \`latchkey token\` prints it, \`latchkey logout\` ends it.`;
