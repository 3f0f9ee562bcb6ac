/**
 * Identity providers whose consoles are described here: plain data for the doctor, for the recipes in
 * docs/guides/providers/ (made by `npm run generate`) and for the console. Entries with `seen` were observed in running
 * instances; the others come from the provider's documentation.
 */
export type KnownProvider = {
  key: string;
  name: string;
  /** Its mark in lists: letters, because logos are trademarks. */
  letters: string;
  /** The version that was run; null for documentation only. */
  seen: string | null;
  /** How its discovery document is recognised: every named member must match. */
  recognisedBy: readonly Readonly<Record<string, RegExp>>[];
  /** The usual form of its issuer, for a list without documents. Omitted where `recognisedBy` has the issuer. */
  usualIssuer?: RegExp;
  /** The form of its issuer, for the person who types it. */
  issuer: string;
  /**
   * The steps at the provider, in order. The reader's page replaces `{callback}`, `{backchannel-logout}` and
   * `{signed-out}`: in code by the address itself, in text by its name.
   */
  steps: readonly string[];
  /** The form of its answers. */
  answers: readonly string[];
  /** The requirements that need attention at this provider, and the remedy. */
  attention: Readonly<Partial<Record<`R${number}`, string>>>;
  /** Where its console has the setting for a requirement or a failure. */
  console: Readonly<Partial<Record<ConsoleTopic, string>>>;
};

export type ConsoleTopic =
  | "callback"
  | "secret"
  | "method"
  | "code_flow"
  | "email"
  | "encryption"
  | "audience"
  | "signing"
  | "logout";

export const knownProviders: readonly KnownProvider[] = [
  {
    key: "keycloak",
    name: "Keycloak",
    letters: "Kc",
    seen: "26.3.5",
    recognisedBy: [{ authorization_endpoint: /\/protocol\/openid-connect\/auth$/ }],
    usualIssuer: /^https?:\/\/[^/]+\/(auth\/)?realms\/[^/]+$/,
    issuer: "https://<host>/realms/<realm>",
    steps: [
      "Clients → Create client. Client type OpenID Connect; Client ID: a name of your choice, such as `latchkey`.",
      "Next. Capability config: Client authentication on, Standard flow on, everything else off.",
      "Next. Valid redirect URIs: {callback}, whole, without `*`. Save.",
      "Credentials: Client Authenticator stays Client Id and Secret. Copy Client Secret.",
      "Settings → Logout settings: Front channel logout off; Backchannel logout URL: {backchannel-logout}.",
      "With `propagate_logout`: Settings → Valid post logout redirect URIs: {signed-out}; else a shopper who signs out ends on Keycloak's page, Invalid redirect uri.",
    ],
    answers: [
      "The ID token has `email`, `email_verified`, `sid`, and with the scope `profile` the name.",
      "Errors say what is wrong in `error_description`, which the record of the sign-on shows.",
      "A wrong callback URL ends on Keycloak's own page, Invalid parameter: redirect_uri: the shopper never comes back, so there is no record.",
      "A wrong secret is 401 `unauthorized_client`.",
      "With Advanced → OpenID Connect Compatibility Modes → Exclude Issuer From Authentication Response on, every sign-on is refused with `response.iss_missing`: leave it off.",
    ],
    attention: {
      R2: "Credentials → Client Authenticator: Signed Jwt and X509 are refused with 400 `invalid_client`.",
      R3: "Advanced → Pushed authorization request required must be off; a client policy of the realm may switch it on.",
      R4: "A person without an e-mail has none in the token. Client scopes must have `email` as Default.",
      R6: "Advanced → Fine grain OpenID Connect configuration: ID token encryption algorithms must be empty.",
      R7: "An audience mapper that adds to the ID token puts another client into `aud`: let it add to the access token only.",
    },
    console: {
      callback: "Clients → your client → Settings → Valid redirect URIs",
      secret: "Clients → your client → Credentials → Client Secret",
      method: "Clients → your client → Credentials → Client Authenticator: Client Id and Secret",
      code_flow:
        "Clients → your client → Settings → Capability config: Standard flow on; Advanced → Pushed authorization request required off",
      email: "Clients → your client → Client scopes: add email as Default; Users → the person → Email",
      encryption:
        "Clients → your client → Advanced → Fine grain OpenID Connect configuration: empty both encryption algorithms",
      audience:
        "Clients → your client → Client scopes → the dedicated scope → Mappers: Audience, Add to ID token off",
      signing:
        "Clients → your client → Advanced → Fine grain OpenID Connect configuration → ID token signature algorithm",
      logout: "Clients → your client → Settings → Logout settings → Backchannel logout URL",
    },
  },
  {
    key: "entra",
    name: "Microsoft Entra ID",
    letters: "En",
    seen: null,
    recognisedBy: [
      {
        issuer:
          /^https:\/\/(login\.microsoftonline\.(com|us)|sts\.windows\.net|login\.partner\.microsoftonline\.cn)\//,
      },
      { issuer: /^https:\/\/[^/]+\.ciamlogin\.com\// },
    ],
    issuer: "https://login.microsoftonline.com/<tenant id>/v2.0",
    steps: [
      "App registrations → New registration. Supported account types: Accounts in this organizational directory only.",
      "Redirect URI: platform Web, and {callback}.",
      "Overview: copy Application (client) ID and Directory (tenant) ID. The discovery URL has the tenant id, not `common`.",
      "Certificates & secrets → New client secret: copy its Value, not its Secret ID, and note when it expires.",
      "Token configuration → Add optional claim → ID: `email`. Accept that Microsoft Graph's email permission is turned on.",
    ],
    answers: [
      "`sub` differs for each client: after a new registration every person is a new customer.",
      "There is no `email_verified`. Addresses count as not proven, so Latchkey links no person to a customer by e-mail.",
      "UserInfo is on graph.microsoft.com: the doctor notes another host than the issuer's, which is right.",
      "Error descriptions begin with a number such as AADSTS7000215 (wrong secret: often the Secret ID was copied).",
    ],
    attention: {
      R1: "The document of `common`, `organizations` and `consumers` names an issuer with `{tenantid}` in it: use your tenant's own.",
      R4: "`email` is an optional claim, and absent for people without a mailbox. The address in it may be unproven.",
    },
    console: {
      callback: "App registrations → your app → Authentication → Web → Redirect URIs",
      secret: "App registrations → your app → Certificates & secrets → Client secrets (the Value)",
      email: "App registrations → your app → Token configuration → Add optional claim → ID → email",
      code_flow: "App registrations → your app → Authentication: platform Web, not Single-page application",
      encryption: "App registrations → your app → Token encryption: no active certificate",
    },
  },
  {
    key: "okta",
    name: "Okta",
    letters: "Ok",
    seen: null,
    recognisedBy: [{ issuer: /^https:\/\/[^/]+\.(okta|oktapreview|okta-emea|okta-gov)\.com(\/|$)/ }],
    issuer:
      "https://<org>.okta.com, or https://<org>.okta.com/oauth2/default for a custom authorization server",
    steps: [
      "Applications → Create App Integration → OIDC - OpenID Connect → Web Application.",
      "Grant type: Authorization Code. Sign-in redirect URIs: {callback}.",
      "Assignments: the people or groups that may sign on.",
      "General → Client Credentials: Client authentication is Client secret. Copy Client ID and secret.",
    ],
    answers: [
      "The org's own server puts the e-mail into UserInfo only; Latchkey asks there.",
      "Who is not assigned to the app comes back with `access_denied`.",
    ],
    attention: {
      R2: "Public key / Private key as client authentication refuses Basic.",
      R4: "With a custom authorization server, its access policy must allow the scope `email` for this client.",
    },
    console: {
      callback: "Applications → your app → General → Login → Sign-in redirect URIs",
      secret: "Applications → your app → General → Client Credentials → Client secrets",
      method: "Applications → your app → General → Client Credentials → Client authentication: Client secret",
      code_flow:
        "Applications → your app → General → Grant type: Authorization Code; Require pushed authorization requests off",
      email:
        "Security → API → Authorization Servers → your server → Scopes and Access Policies; Directory → People → the person",
    },
  },
  {
    key: "auth0",
    name: "Auth0",
    letters: "A0",
    seen: null,
    recognisedBy: [
      { issuer: /^https:\/\/[^/]+\.auth0\.com\/$/ },
      { mfa_challenge_endpoint: /\/mfa\/challenge$/ },
    ],
    issuer: "https://<tenant>.<region>.auth0.com/ with the slash at its end, or your custom domain with one",
    steps: [
      "Applications → Create Application → Regular Web Applications.",
      "Settings → Allowed Callback URLs: {callback}.",
      "Credentials → Authentication Method: Client Secret (Basic). Copy Client ID and Client Secret.",
      "Settings → Advanced Settings → OAuth: JsonWebToken Signature Algorithm RS256, OIDC Conformant on.",
      "Settings → Advanced Settings → OpenID Connect Back-Channel Logout, if your plan has it: {backchannel-logout}.",
    ],
    answers: [
      "The issuer ends with a slash. Give the address with or without it: Latchkey uses the issuer exactly as the document has it.",
      "`email_verified` is false until the person has followed the link in Auth0's e-mail.",
    ],
    attention: {
      R1: "With HS256 the ID token is signed with the client secret, which is not accepted: choose RS256.",
      R2: "New applications may have Client Secret (Post).",
      R4: "Social connections may give no e-mail.",
    },
    console: {
      callback: "Applications → your app → Settings → Application URIs → Allowed Callback URLs",
      secret: "Applications → your app → Settings → Basic Information → Client Secret",
      method: "Applications → your app → Credentials → Authentication Method: Client Secret (Basic)",
      code_flow: "Applications → your app → Settings → Advanced Settings → Grant Types: Authorization Code",
      email: "Authentication → the connection → its attributes and permissions",
      encryption: "Applications → APIs → token encryption off",
      signing:
        "Applications → your app → Settings → Advanced Settings → OAuth → JsonWebToken Signature Algorithm: RS256",
    },
  },
  {
    key: "google",
    name: "Google",
    letters: "Go",
    seen: null,
    recognisedBy: [{ issuer: /^https:\/\/accounts\.google\.com$/ }],
    issuer: "https://accounts.google.com",
    steps: [
      "Google Auth Platform (APIs & Services) → Branding and Audience: fill in the consent screen; External, and publish it.",
      "Clients → Create client → Web application.",
      "Authorized redirect URIs: {callback}. Copy Client ID and Client secret at once: the secret is shown only then.",
    ],
    answers: [
      "The ID token has `email` and `email_verified: true`.",
      "The endpoints are on oauth2.googleapis.com and other hosts: the doctor notes it, which is right.",
      "A wrong callback URL ends on Google's own page, Error 400: redirect_uri_mismatch.",
    ],
    attention: {
      R4: "While the app is in Testing, only test users can sign on.",
    },
    console: {
      callback: "Google Auth Platform → Clients → your client → Authorized redirect URIs",
      secret: "Google Auth Platform → Clients → your client → Client secrets",
      email: "Google Auth Platform → Data Access: the scopes openid and email",
    },
  },
  {
    key: "cognito",
    name: "Amazon Cognito",
    letters: "Co",
    seen: null,
    recognisedBy: [{ issuer: /^https:\/\/cognito-idp\.[a-z0-9-]+\.amazonaws\.com(\.cn)?\// }],
    issuer: "https://cognito-idp.<region>.amazonaws.com/<user pool id>",
    steps: [
      "User pool → App clients → Create app client → Traditional web application: that kind has a client secret.",
      "Allowed callback URLs: {callback}.",
      "Login pages → Edit: OAuth grant types Authorization code grant; scopes OpenID, Email and Profile.",
      "Branding → Domain: a domain must be set, or there is no login page.",
    ],
    answers: [
      "The endpoints are on the domain's host, not on the issuer's: the doctor notes it, which is right.",
      "A client secret cannot be changed: to replace it, make a new app client. `sub` is the person's in the pool and stays the same.",
    ],
    attention: {
      R4: "The app client must be allowed to read the attribute email. `email_verified` follows what the pool has verified.",
    },
    console: {
      callback: "User pool → App clients → your client → Login pages → Allowed callback URLs",
      secret: "User pool → App clients → your client → Client secret",
      code_flow:
        "User pool → App clients → your client → Login pages → OAuth grant types: Authorization code grant",
      email:
        "User pool → App clients → your client → Login pages → OpenID Connect scopes: Email; Attribute permissions: read email",
    },
  },
  {
    key: "ping",
    name: "Ping (PingOne, PingFederate)",
    letters: "Pi",
    seen: null,
    recognisedBy: [
      { issuer: /^https:\/\/auth\.pingone\.[a-z.]+\/[^/]+\/as$/ },
      { authorization_endpoint: /\/as\/authorization\.oauth2$/ },
    ],
    issuer: "PingOne: https://auth.pingone.<region>/<environment id>/as. PingFederate: its base URL",
    steps: [
      "PingOne: Applications → Add → OIDC Web App.",
      "Configuration: Response Type Code, Grant Type Authorization Code, Redirect URIs {callback}.",
      "Configuration → Token Endpoint Authentication Method: Client Secret Basic.",
      "Resources: allow the scopes email and profile. Attribute Mappings: `email` from Email Address. Switch the application on.",
      "PingFederate: Applications → OAuth → Clients: Client Authentication Client Secret, Redirect URIs, grant Authorization Code, and an OpenID Connect policy that fulfils `email`.",
    ],
    answers: [
      "Which claims are in the ID token and which in UserInfo is up to the mappings; either will do.",
    ],
    attention: {
      R2: "PingOne lets you choose Post or a signed token instead: choose Client Secret Basic.",
      R3: "Configuration → Require Pushed Authorization Request must be off.",
      R6: "PingFederate can encrypt ID tokens for a client: ID Token Key Management Encryption Algorithm must be No Encryption.",
    },
    console: {
      callback: "Applications → your app → Configuration → Redirect URIs",
      secret: "Applications → your app → Configuration → Client Secret",
      method:
        "Applications → your app → Configuration → Token Endpoint Authentication Method: Client Secret Basic",
      code_flow:
        "Applications → your app → Configuration → Grant Type: Authorization Code; Require Pushed Authorization Request off",
      email: "Applications → your app → Resources: email; Attribute Mappings: email",
      encryption:
        "PingFederate: OAuth → Clients → your client → ID Token Key Management Encryption Algorithm: No Encryption",
    },
  },
  {
    key: "dex",
    name: "dex",
    letters: "dx",
    seen: "2.45.1",
    recognisedBy: [
      {
        device_authorization_endpoint: /\/device\/code$/,
        jwks_uri: /\/keys$/,
        authorization_endpoint: /\/auth$/,
      },
    ],
    issuer: "what `issuer` says in its configuration, such as https://<host>/dex",
    steps: [
      "In the configuration file, under `staticClients`: `id`, `secret`, `name`, and `redirectURIs` with {callback}.",
      "Restart dex. With a connector to another provider, dex passes on that provider's claims.",
    ],
    answers: [
      "The ID token has `email` and `email_verified`; the name with the scope `profile`.",
      "A person who refuses ends on a page of dex and does not come back.",
      "There is no back-channel logout.",
    ],
    attention: {
      R4: "A connector that knows no e-mail gives none: most have an option for it.",
    },
    console: {
      callback: "staticClients → your client → redirectURIs",
      secret: "staticClients → your client → secret",
      email: "connectors → your connector: its option for e-mail",
    },
  },
  {
    key: "hydra",
    name: "Ory Hydra",
    letters: "Hy",
    seen: "26.2",
    recognisedBy: [
      { credentials_endpoint_draft_00: /./ },
      { authorization_endpoint: /\/oauth2\/auth$/, end_session_endpoint: /\/oauth2\/sessions\/logout$/ },
    ],
    issuer: "what `urls.self.issuer` says in its configuration",
    steps: [
      "`hydra create client --grant-type authorization_code --response-type code --scope openid,email,profile --token-endpoint-auth-method client_secret_basic --redirect-uri {callback}`.",
      "Back-channel logout: `--backchannel-logout-callback {backchannel-logout}`.",
      "Your consent app must put `email` and `email_verified` into the ID token's session when the scope email is granted, and `name` with the scope profile.",
    ],
    answers: [
      "`scopes_supported` and `claims_supported` do not list e-mail unless you configure it (`webfinger.oidc_discovery`): that proves nothing, and is no obstacle.",
      "Logout tokens have no `exp`; they are accepted while `iat` is at most ten minutes old.",
      "A wrong secret and a wrong method of client authentication are both 401 `invalid_client`.",
    ],
    attention: {
      R2: "A client made with client_secret_post is refused with `invalid_client`.",
      R4: "Hydra knows no people: without the consent app's help there is no e-mail, neither in the ID token nor in UserInfo.",
      R6: "`userinfo_signed_response_alg` may be set: signed answers are read.",
    },
    console: {
      callback: "hydra update client <id> --redirect-uri",
      secret: "hydra update client <id> --secret",
      method: "hydra update client <id> --token-endpoint-auth-method client_secret_basic",
      code_flow: "hydra update client <id> --grant-type authorization_code --response-type code",
      email: "your consent app: session.id_token.email, when the scope email is granted",
      logout: "hydra update client <id> --backchannel-logout-callback",
    },
  },
  {
    key: "zitadel",
    name: "ZITADEL",
    letters: "Zi",
    seen: null,
    recognisedBy: [
      {
        authorization_endpoint: /\/oauth\/v2\/authorize$/,
        introspection_endpoint: /\/oauth\/v2\/introspect$/,
      },
    ],
    usualIssuer: /^https:\/\/[^/]+\.zitadel\.cloud$/,
    issuer: "https://<instance>.zitadel.cloud, or your own domain",
    steps: [
      "Project → New application → Web → CODE. A project of its own for this application.",
      "Redirect URIs: {callback}.",
      "Authentication method: Basic. Copy Client ID and Client Secret.",
      "Token Settings: User Info inside ID Token on, or leave it off: then UserInfo is asked.",
    ],
    answers: [
      "Its documentation says that `aud` has all client ids of the project and the project id.",
      "The example provider of its library zitadel/oidc 3.45, which was run, names the client alone, and gives the e-mail in UserInfo only.",
    ],
    attention: {
      R7: "With the project id in `aud`, sign-ons are refused with `id_token.aud`: requirement 7 wants this client alone. Look at a token of yours before you decide for it.",
    },
    console: {
      callback: "Project → your application → Redirect Settings",
      secret: "Project → your application → Actions → Regenerate Client Secret",
      method: "Project → your application → OIDC Configuration → Authentication Method: Basic",
      code_flow:
        "Project → your application → OIDC Configuration → Response Types: Code; Grant Types: Authorization Code",
      email:
        "Project → your application → Token Settings → User Info inside ID Token; the person's contact information",
      audience: "Project: no other application in it; the project id stays in aud",
    },
  },
  {
    key: "authentik",
    name: "authentik",
    letters: "ak",
    seen: null,
    recognisedBy: [
      { issuer: /\/application\/o\/[^/]+\/$/ },
      { authorization_endpoint: /\/application\/o\/authorize\/$/ },
    ],
    issuer: "https://<host>/application/o/<application slug>/ with the slash at its end",
    steps: [
      "Applications → Applications → Create with Provider → OAuth2/OpenID Provider.",
      "Client type Confidential. Redirect URIs/Origins: Strict, {callback}.",
      "Signing Key: choose one with RSA or EC P-256. Encryption Key: none.",
      "Advanced protocol settings: Scopes with email and profile; Include claims in id_token may be on or off; Issuer mode: each provider has a different issuer.",
    ],
    answers: [
      "Without a Signing Key tokens are signed with the client secret (HS256), which is not accepted.",
      "Newer releases say `email_verified: false` unless a scope mapping of yours says otherwise.",
    ],
    attention: {
      R1: "With the issuer mode that is the same for all providers, the issuer is not the address of the document.",
      R6: "An Encryption Key in the provider encrypts the ID token.",
    },
    console: {
      callback: "Applications → Providers → your provider → Redirect URIs/Origins",
      secret: "Applications → Providers → your provider → Client Secret",
      email: "Applications → Providers → your provider → Advanced protocol settings → Scopes: email",
      encryption: "Applications → Providers → your provider → Encryption Key: none",
      signing: "Applications → Providers → your provider → Signing Key",
    },
  },
  {
    key: "lemonldap",
    name: "LemonLDAP::NG",
    letters: "LL",
    seen: "2.16.1",
    recognisedBy: [
      {
        authorization_endpoint: /\/oauth2\/authorize$/,
        end_session_endpoint: /\/oauth2\/logout$/,
        jwks_uri: /\/oauth2\/jwks$/,
      },
    ],
    issuer: "the portal's URL",
    steps: [
      "Manager → OpenID Connect Service: switch it on, and make a signing key (RSA).",
      "OpenID Connect Relying Parties → Add. Options → Basic: Client ID, Client secret, Allowed redirection addresses for login: {callback}.",
      "Exported attributes: `email` → mail, and `name` → cn.",
      "Options → Security: ID Token signature algorithm RS256.",
    ],
    answers: [
      "`claims_supported` is a fixed list without e-mail: that proves nothing, and is no obstacle.",
      "The e-mail is in UserInfo, not in the ID token; Latchkey asks there.",
      "A person who refuses comes back with `consent_required`; the storefront gets this code unchanged.",
      "There is no `email_verified` unless you export one.",
      "It announces no back-channel logout (`backchannel_logout_supported: false`), so a person who signs out there stays signed in at the shop until the customer token expires.",
    ],
    attention: {
      R1: "The default signature algorithm may be HS512: choose RS256.",
      R4: "Without `email` among the exported attributes there is none.",
    },
    console: {
      callback:
        "OpenID Connect Relying Parties → yours → Options → Basic → Allowed redirection addresses for login",
      secret: "OpenID Connect Relying Parties → yours → Options → Basic → Client secret",
      email: "OpenID Connect Relying Parties → yours → Exported attributes: email",
      signing: "OpenID Connect Relying Parties → yours → Options → Security → ID Token signature algorithm",
    },
  },
];
