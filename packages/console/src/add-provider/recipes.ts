/** Instructions for common providers. `example` in an address is a part that the reader replaces. */
type Recipe = {
  id: string;
  name: string;
  address: string;
  /** The provider's page for registering a client. */
  where: string;
  /** The options to choose on that page. */
  choose: string;
};

export const RECIPES: readonly Recipe[] = [
  {
    id: "entra",
    name: "Microsoft Entra ID",
    address: "https://login.microsoftonline.com/<tenant id>/v2.0",
    where: "Entra admin center, App registrations, New registration",
    choose:
      "Platform “Web”, with the callback as its redirect URI. Under Token configuration add the optional claim email to the ID token. Under Certificates & secrets make a client secret, and copy its value.",
  },
  {
    id: "google",
    name: "Google",
    address: "https://accounts.google.com",
    where: "Google Cloud console, APIs & Services, Credentials, Create credentials, OAuth client ID",
    choose: "Application type “Web application”, with the callback among the authorized redirect URIs.",
  },
  {
    id: "okta",
    name: "Okta",
    address: "https://<your domain>.okta.com",
    where: "Okta admin console, Applications, Create App Integration",
    choose:
      "OIDC, “Web Application”, grant type Authorization Code, with the callback as sign-in redirect URI. Assign the people who may sign in.",
  },
  {
    id: "auth0",
    name: "Auth0",
    address: "https://<your tenant>.auth0.com",
    where: "Auth0 dashboard, Applications, Create Application",
    choose:
      "“Regular Web Application”. In its settings put the callback into Allowed Callback URLs, and choose RS256 under Advanced, OAuth.",
  },
  {
    id: "keycloak",
    name: "Keycloak",
    address: "https://<host>/realms/<realm>",
    where: "Keycloak admin console, the realm, Clients, Create client",
    choose:
      "OpenID Connect, with client authentication on and the standard flow. Put the callback into Valid redirect URIs. The secret is on the tab Credentials.",
  },
  {
    id: "other",
    name: "Another provider",
    address: "",
    where: "The pages where your provider registers clients or applications",
    choose:
      "A confidential web client with the authorization code flow, client_secret_basic, and the callback as its only redirect URI.",
  },
];

/** The recipe for a provider, by its address: a provider may be continued later, from the list. */
export function recipeOf(address: string): string {
  const url = URL.parse(address);
  if (!url) return "other";
  if (url.hostname === "login.microsoftonline.com") return "entra";
  if (url.hostname === "accounts.google.com") return "google";
  if (url.hostname.endsWith(".okta.com")) return "okta";
  if (url.hostname.endsWith(".auth0.com")) return "auth0";
  return url.pathname.startsWith("/realms/") ? "keycloak" : "other";
}

/** Checks the form of a typed address. The service checks the rest when it reads the address. */
export function judgeAddress(typed: string): string | undefined {
  const text = typed.trim();
  if (text === "") return "Paste the provider’s address.";
  if (text.includes("<")) return "Put your own value in the place of the part between < and >.";
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
  if (!url) return "This is not an address.";
  if (url.username || url.password) return "An address with a name or a password in it is not taken.";
  const isHere = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol !== "https:" && !isHere) return "The address must begin with https://.";
  return undefined;
}
