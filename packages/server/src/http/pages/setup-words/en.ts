/**
 * The texts of the page of a set-up link. Their reader administers the identity provider. `{shop}` is the store's name.
 */
export const en = {
  heading: "Register {shop} at your identity provider",
  text: "{shop} wants people to sign in through your identity provider. Register {shop} there as an OpenID Connect client, with the values on this page.",
  realm: "Area of the shop",
  provider: "The shop calls your provider",
  validUntil: "This link works until {time}.",
  values: {
    heading: "What to register",
    redirectUri: "Redirect URI",
    redirectUris: "Redirect URIs",
    exactly: "Exactly as shown, without a wildcard.",
    logoutUri: "Back-channel logout URI",
    logoutHint:
      "If your provider supports it: a session that ends at your provider then ends at the shop, too.",
    signedOutUri: "Post-logout redirect URI",
    flow: "Flow",
    authentication: "Client authentication",
    scopes: "Scopes",
    scopesHint: "Also allow {scope}: shops often ask for the person’s name.",
    claims: "Claims",
    claimsHint: "Helpful, but not required: {claims}.",
    clientId: "Client ID",
    clientIdHint: "As the shop has entered it. If you give the client another ID, tell the shop.",
    document: "Discovery document",
    secret:
      "Send the client ID and the client secret to the shop in a safe way. This page cannot receive a secret.",
  },
  checks: {
    heading: "Requirements",
    text: "Sign-in works when your provider meets all of them.",
    never: "Not checked yet.",
    checkedAt: "Checked: {time}.",
    checkNow: "Check now",
    checkAgain: "Check again",
    nextAt: "The next check is possible from {time}.",
    status: { met: "met", not_met: "not met", unknown: "not known yet" },
    notRead: "Shows when the discovery document can be read.",
    atFirstSignIn: "Shows at the first sign-in.",
    details: "Details",
  },
  // Text between backticks is code.
  requirements: {
    R1: {
      what: "It is compatible with OpenID Connect.",
      remedy:
        "Publish a complete discovery document and a public signing key. Sign ID tokens with RS256, PS256, ES256 or EdDSA.",
    },
    R2: {
      what: "It accepts the client authentication `client_secret_basic`.",
      remedy: "Allow `client_secret_basic` for this client.",
    },
    R3: {
      what: "It allows the Authorization Code Flow.",
      remedy:
        "Allow the response type `code` and the grant type `authorization_code` for this client. Do not require pushed or signed authorization requests.",
    },
    R4: {
      what: "It supports the scope `email` and returns an e-mail address for every person.",
      remedy:
        "Allow the scope `email` for this client. Every person needs an e-mail address, which must be in the ID token or in the UserInfo response.",
    },
    R5: {
      what: "It publishes a discovery document.",
      remedy: "The discovery document must be public: https, status 200, JSON.",
    },
    R6: {
      what: "It encrypts neither the ID token nor the UserInfo response.",
      remedy: "Switch off the encryption of ID token and UserInfo for this client.",
    },
    R7: {
      what: "The audience (`aud`) of the ID token is only this client’s ID.",
      remedy: "Remove all other audiences from the ID token.",
    },
    R8: {
      what: "It does not require `nonce` or `acr_values` in the request.",
      remedy: "Do not require `acr_values` for this client.",
      unknown: "You need to do nothing: a `nonce` is sent with every request.",
    },
    R9: {
      what: "It does not rely on the check of `auth_time`.",
      remedy: "Do not rely on the check of `auth_time` for this client.",
    },
  },
  places: {
    heading: "Where to find the settings in {provider}",
    callback: "Redirect URI",
    secret: "Client secret",
    method: "Client authentication",
    code_flow: "Flow",
    email: "E-mail address",
    encryption: "Encryption",
    audience: "Audience",
    signing: "Signature",
    logout: "Logout",
  },
  over: {
    heading: "This link does not work",
    text: "It has expired, or the shop has ended it, or the address is incomplete.",
    remedy: "Check whether you have opened the whole address. If so, ask the shop for a new link.",
  },
};

export type SetupWords = Omit<typeof en, "requirements"> & {
  requirements: Record<
    "R1" | "R2" | "R3" | "R4" | "R5" | "R6" | "R7" | "R8" | "R9",
    { what: string; remedy: string; unknown?: string }
  >;
};
