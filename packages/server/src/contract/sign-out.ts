import { z } from "zod";
import { LEG } from "./authorization-request.ts";
import { operation } from "./operation.ts";
import { ofProfile, ofRealm, PROFILE, REALM } from "./sign-on.ts";

/** Signing out: RP-initiated logout, and the way back from the identity provider. */

const endSessionParameters = z.object({
  id_token_hint: LEG.meta({
    description:
      "The ID token of the sign-on to end; one that has expired will do. Without it a page asks the shopper",
  }),
  post_logout_redirect_uri: LEG.meta({
    description: "Where to go then: one of the realm's `redirect_uris`, byte for byte",
    format: "uri",
    examples: ["https://shop.example/signed-in"],
  }),
  state: LEG.meta({ description: "Comes back unchanged, at most 2048 characters" }),
  client_id: LEG.meta({
    description: "If it is sent, that of the ID token; without an ID token, one of the store's clients",
  }),
  confirmation: LEG.meta({ description: "What the page's own button sends" }),
});

const endingSession = {
  tag: "Sign-on",
  path: `${REALM}/end-session`,
  summary: "Sign a shopper out (RP-initiated logout)",
  access: "browser",
  ids: ofRealm,
  legQuery: endSessionParameters,
  success: {
    status: 303,
    description:
      "To the identity provider, where the profile has `propagate_logout`, or to `post_logout_redirect_uri`",
    page: "The question, where there is no ID token; that the shopper is signed out, where there is nowhere to go",
  },
  problems: ["logout_hint_invalid", "sign_on_client_unknown", "logout_uri_unregistered", "parameter_invalid"],
} as const;

export const endSession = operation({
  id: "endSession",
  method: "GET",
  ...endingSession,
  description:
    "OpenID Connect RP-Initiated Logout 1.0. Ends the customer token of the sign-on that the ID token came from. Without an ID token a page asks whether to sign out; Yes ends sign-ons that this browser has begun and not finished, and no customer token. Nobody is sent to an address that is not registered.",
});

export const endSessionByForm = operation({
  id: "endSessionByForm",
  method: "POST",
  ...endingSession,
  description: "The same, with the parameters as a form.",
  legForm: true,
});

export const signedOut = operation({
  id: "signedOut",
  tag: "Sign-on",
  method: "GET",
  path: `${PROFILE}/signed-out`,
  summary: "Where the identity provider sends a shopper who has signed out",
  description:
    "Register this address at the identity provider as a post-logout redirect URI, where the profile has `propagate_logout`.",
  access: "browser",
  ids: ofProfile,
  legQuery: z.object({ state: LEG.meta({ description: "What we gave the identity provider" }) }),
  success: {
    status: 303,
    description: "To the storefront",
    page: "That the shopper is signed out, where there is no good `state`",
  },
});
