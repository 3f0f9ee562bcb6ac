import type { KnobSettings } from "./knobs.ts";
import type { Memory } from "./memory.ts";
import { type AuthorizationContext, type Context, interactionPolicy, Provider } from "./oidc-provider.ts";
import { pageHeaders } from "./pages/page.ts";
import { problemPage } from "./pages/problem.ts";
import { claimsOf, type People } from "./people.ts";
import type { SigningKey } from "./signing-key.ts";
import { addTokenFaults, TOKEN_PATH } from "./token-faults.ts";

export type PracticeClient = {
  clientId: string;
  clientSecret: string;
  redirectUris: string[];
  backchannelLogoutUri?: string;
};

type ProviderParts = {
  issuer: string;
  clients: readonly PracticeClient[];
  key: SigningKey;
  memory: Memory;
  cookies: { prefix: string; keys: string[] };
  people: People;
  settings: () => KnobSettings;
  fetch: typeof fetch;
  closing: AbortSignal;
  report: (fault: unknown) => void;
};

const SCOPE = "openid email profile";
const DAY_SECONDS = 86_400;

/**
 * The library reads its settings once, so another key or client needs a new provider, which uses the same
 * memory.
 */
export function createProvider(parts: ProviderParts): Provider {
  const { issuer, clients, key, memory, cookies, people, settings } = parts;
  const off = { enabled: false };
  const provider = new Provider(issuer, {
    adapter: memory,
    clients: clients.map(toMetadata),
    jwks: { keys: [key.jwk] },
    cookies: {
      keys: cookies.keys,
      // Browsers share cookies between all ports of a host, and several providers may run on this host.
      names: {
        session: `${cookies.prefix}_session`,
        interaction: `${cookies.prefix}_interaction`,
        resume: `${cookies.prefix}_resume`,
      },
    },
    scopes: ["openid"],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    // The ID token contains the e-mail, as at most providers. UserInfo has the same claims.
    conformIdTokenClaims: false,
    responseTypes: ["code"],
    clientAuthMethods: ["client_secret_basic"],
    enabledJWA: { idTokenSigningAlgValues: ["RS256"] },
    pkce: { required: () => true },
    routes: { token: TOKEN_PATH },
    clientBasedCORS: () => false,
    features: {
      backchannelLogout: { enabled: true },
      devInteractions: off,
      dPoP: off,
      pushedAuthorizationRequests: off,
      resourceIndicators: off,
      rpInitiatedLogout: off,
    },
    ttl: {
      AccessToken: 300,
      AuthorizationCode: 60,
      Grant: DAY_SECONDS,
      IdToken: 300,
      Interaction: 3600,
      Session: DAY_SECONDS,
    },
    interactions: {
      policy: createPolicy(settings),
      url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}`,
    },
    loadExistingGrant: grantAll,
    findAccount(_: unknown, sub: string) {
      const person = people.find(sub);
      return person && { accountId: sub, claims: () => claimsOf(person, settings().dropEmail) };
    },
    renderError(context: Context, { error, error_description }: Record<string, string | undefined>) {
      context.type = "html";
      context.set(pageHeaders());
      context.body = problemPage("This sign-in cannot go on", error_description ?? "", error);
    },
    // The library's own fetch refuses loopback addresses, but every client of this provider is on loopback.
    fetch: (url: string, { method, headers, body, signal, redirect }: RequestInit) =>
      parts.fetch(url, { method, headers, body, signal, redirect } as RequestInit),
  });
  addTokenFaults(provider, { settings, key, closing: parts.closing });
  provider.on("error", parts.report);
  provider.on("server_error", (_, fault) => parts.report(fault));
  return provider;
}

const toMetadata = ({ clientId, clientSecret, redirectUris, backchannelLogoutUri }: PracticeClient) => ({
  client_id: clientId,
  client_secret: clientSecret,
  redirect_uris: redirectUris,
  grant_types: ["authorization_code"],
  response_types: ["code"],
  token_endpoint_auth_method: "client_secret_basic",
  id_token_signed_response_alg: "RS256",
  ...(backchannelLogoutUri !== undefined && {
    backchannel_logout_uri: backchannelLogoutUri,
    backchannel_logout_session_required: true,
  }),
});

/** Adds two prompts to the library's sign-in and consent: account selection, and the knob that refuses. */
function createPolicy(settings: () => KnobSettings): object {
  const { base, Prompt, Check } = interactionPolicy;
  const policy = base();
  policy.add(new Prompt({ name: "select_account", requestable: true }), 0);
  const isRefusing = () => settings().refuseConsent;
  policy.get("consent").checks.add(new Check("knob", "the knob says no", "access_denied", isRefusing));
  return policy;
}

/** Grants every scope without asking: there is no consent page. */
async function grantAll({ oidc }: AuthorizationContext): Promise<object> {
  const { clientId } = oidc.client;
  const { Grant } = oidc.provider;
  const grantId = oidc.session.grantIdFor(clientId);
  const known = grantId === undefined ? undefined : await Grant.find(grantId);
  if (known) return known;
  const grant = new Grant({ accountId: oidc.account.accountId, clientId });
  grant.addOIDCScope(SCOPE);
  await grant.save();
  return grant;
}
