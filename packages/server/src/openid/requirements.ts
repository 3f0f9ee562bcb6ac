import { isAllowedUrl } from "../egress/address-rules.ts";
import { show } from "../lib/show.ts";
import {
  ENDPOINTS,
  isIssuerOf,
  type JsonObject,
  textOf,
  textsOf,
  toDiscoveryUrl,
  usableAlgorithms,
} from "./discovery.ts";
import type { SigningKey } from "./keys.ts";

/** The nine requirements. A check that needs a live token is `unknown` until a sign-on. */
export type RequirementId = "R1" | "R2" | "R3" | "R4" | "R5" | "R6" | "R7" | "R8" | "R9";
export type CheckStatus = "met" | "not_met" | "unknown";
export type Check = {
  id: RequirementId;
  requirement: string;
  status: CheckStatus;
  evidence: string;
  remedy: string | null;
};

export const requirements: Record<RequirementId, string> = {
  R1: "It is compatible with OpenID Connect.",
  R2: "It supports the client authentication method client_secret_basic.",
  R3: "It allows the Authorization Code Flow.",
  R4: "It supports the email scope and returns an e-mail for each user in the claims.",
  R5: "It publishes an OpenID Connect Discovery document.",
  R6: "It encrypts neither the ID token nor the UserInfo response.",
  R7: "Its ID token contains only the configured client id.",
  R8: "It does not require the nonce or acr_values parameter in the request.",
  R9: "It does not rely on validation of the auth_time claim.",
};

type Judged = Omit<Check, "id" | "requirement">;

/** A sign-on through Latchkey proves only that a request with a nonce is accepted. */
export const NONCE_SENT =
  "Latchkey always sends a nonce and never acr_values. So it cannot find out whether the provider requires a nonce; sign-ons work in both cases.";

type Examined = {
  discoveryUrl: string;
  document: JsonObject;
  /** `undefined`: the keys could not be read. */
  keys: readonly SigningKey[] | undefined;
  allowedOrigins: readonly string[];
};

export function judge(examined: Examined): Check[] {
  const { document } = examined;
  const judged: Record<RequirementId, Judged> = {
    R1: judgeCompatible(examined),
    R2: judgeList(
      document,
      "token_endpoint_auth_methods_supported",
      "client_secret_basic",
      "Allow client_secret_basic for this client.",
    ),
    R3: judgeCodeFlow(document),
    R4: judgeEmail(document),
    R5: met("The document was read."),
    R6: unknown("Whether tokens are encrypted is checked at the first sign-on."),
    R7: unknown("The audience is checked at the first sign-on."),
    R8: unknown(NONCE_SENT),
    R9: unknown(
      "Latchkey reads auth_time only if the storefront sends max_age; whether that is enough is checked at the first sign-on.",
    ),
  };
  return toChecks((id) => judged[id]);
}

const toChecks = (judge: (id: RequirementId) => Judged): Check[] =>
  (Object.keys(requirements) as RequirementId[]).map((id) => ({
    id,
    requirement: requirements[id],
    ...judge(id),
  }));

export const CHECK_ADDRESS =
  "Check the address. It should end in /.well-known/openid-configuration and answer 200 with JSON.";

/** The checks of a provider whose document could not be read. */
export const judgeUnread = (evidence: string, remedy: string | null): Check[] =>
  toChecks((id) =>
    id === "R5" ? notMet(evidence, remedy) : unknown("The discovery document could not be read."),
  );

export const SIGN_WITH = "Sign with RS256, PS256, ES256 or EdDSA.";

function judgeCompatible({ discoveryUrl, document, keys, allowedOrigins }: Examined): Judged {
  const issuer = textOf(document, "issuer");
  if (issuer === undefined) return notMet("The document names no issuer.", "Publish `issuer`.");
  if (!isIssuerOf(issuer, discoveryUrl)) {
    return notMet(
      `The document at ${toDiscoveryUrl(discoveryUrl)} names the issuer ${show(issuer)}, which is not the address that it was read from.`,
      "Use the discovery URL of the issuer itself: issuer and address must agree exactly.",
    );
  }
  if (/[?#]/.test(issuer))
    return notMet("The issuer has a query or a fragment.", "Use an issuer without them.");
  const needed = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;
  const missing = needed.filter((member) => textOf(document, member) === undefined);
  const lists = [
    "response_types_supported",
    "subject_types_supported",
    "id_token_signing_alg_values_supported",
  ];
  const missingLists = lists.filter((member) => (textsOf(document, member)?.length ?? 0) === 0);
  const absent = [...missing, ...missingLists];
  if (absent.length > 0) {
    const members = absent.length === 1 ? "this member" : "these members";
    return notMet(`The document lacks ${absent.join(", ")}.`, `Publish ${members}.`);
  }
  const barred = ENDPOINTS.filter((member) => {
    const url = textOf(document, member);
    return url === undefined ? document[member] !== undefined : !isAllowedUrl(url, allowedOrigins);
  });
  if (barred.length > 0) {
    return notMet(
      `${barred.length === 1 ? "This address is" : "These addresses are"} not allowed: ${barred.join(", ")}.`,
      "Endpoints must be https on the standard port, with a public host name. An internal one must be allowed by the operator.",
    );
  }
  if (usableAlgorithms(document).length === 0) {
    return notMet("It signs ID tokens with no algorithm that Latchkey accepts.", SIGN_WITH);
  }
  if (keys === undefined)
    return notMet("Its keys could not be read.", "Make `jwks_uri` answer 200 with a JWK set.");
  if (keys.length === 0)
    return notMet("Its key set has no usable signing key.", "Publish a public RSA, P-256 or Ed25519 key.");
  const fitting = keys.filter((key) =>
    key.algorithms.some((name) => usableAlgorithms(document).includes(name)),
  );
  if (fitting.length === 0) {
    return notMet(
      "None of its keys fits an algorithm that it lists.",
      "Publish a key for the algorithm that ID tokens are signed with.",
    );
  }
  return met(`The document is complete and agrees with its address. Signing keys: ${fitting.length}.`);
}

function judgeCodeFlow(document: JsonObject): Judged {
  const remedy = "Allow the response type `code` and the grant `authorization_code` for this client.";
  const barriers = ["require_pushed_authorization_requests", "require_signed_request_object"].filter(
    (member) => document[member] === true,
  );
  if (barriers.length > 0)
    return notMet(
      `It demands ${barriers.join(" and ")}.`,
      `Do not demand ${barriers.length === 1 ? "it" : "them"} for this client.`,
    );
  const types = judgeList(document, "response_types_supported", "code", remedy);
  return types.status === "met"
    ? judgeList(document, "grant_types_supported", "authorization_code", remedy)
    : types;
}

/** Both lists may be incomplete (Discovery 3), so only a sign-on can prove that there is no e-mail. */
function judgeEmail(document: JsonObject): Judged {
  const scopes = textsOf(document, "scopes_supported");
  const claims = textsOf(document, "claims_supported");
  if (scopes?.includes("email") && claims?.includes("email"))
    return met("The scope and the claim email are listed.");
  const lacking = [
    ...(scopes && !scopes.includes("email") ? ["scopes_supported"] : []),
    ...(claims && !claims.includes("email") ? ["claims_supported"] : []),
  ];
  return unknown(
    lacking.length > 0
      ? `${lacking.join(" and ")} ${lacking.length === 1 ? "does" : "do"} not list email, which proves nothing: checked at the first sign-on.`
      : "It does not list all its scopes and claims: checked at the first sign-on.",
  );
}

/** An absent list means the default of the specification (Discovery 3), which is `needed` for every list here. */
function judgeList(document: JsonObject, member: string, needed: string, remedy: string): Judged {
  const listed = textsOf(document, member);
  if (listed === undefined) return met(`${member} is not listed, which means ${needed}.`);
  return listed.includes(needed)
    ? met(`${member} lists ${needed}.`)
    : notMet(`${member} does not list ${needed}.`, remedy);
}

const met = (evidence: string): Judged => ({ status: "met", evidence, remedy: null });
export const notMet = (evidence: string, remedy: string | null): Judged => ({
  status: "not_met",
  evidence,
  remedy,
});
const unknown = (evidence: string): Judged => ({ status: "unknown", evidence, remedy: null });
