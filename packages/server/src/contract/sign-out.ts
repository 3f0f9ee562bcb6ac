import { z } from "zod";
import { LEG } from "./authorization-request.ts";
import { operation } from "./operation.ts";
import { ofProfile, ofRealm, PROFILE, REALM } from "./sign-on.ts";

/** Signing out: RP-initiated logout, and the way back from the identity provider. */

const endSessionParameters = z.object({
  id_token_hint: LEG.meta({
    description: "The ID token of the sign-on to end, expired or not. Without it a page asks the shopper",
  }),
  post_logout_redirect_uri: LEG.meta({
    description: "Where the browser goes next: exactly one of the realm's `redirect_uris`",
    format: "uri",
    examples: ["https://shop.example/signed-in"],
  }),
  state: LEG.meta({ description: "Comes back unchanged, at most 2048 characters" }),
  client_id: LEG.meta({
    description: "Optional: the client of the ID token; without an ID token, one of the store's clients",
  }),
  confirmation: LEG.meta({ description: "Sent by the button of the page" }),
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
      "To the identity provider, if the profile has `propagate_logout`, or to `post_logout_redirect_uri`",
    page: "Without an ID token: the question whether to sign out. Without an address to go to: the shopper is signed out",
  },
  problems: ["logout_hint_invalid", "sign_on_client_unknown", "logout_uri_unregistered", "parameter_invalid"],
} as const;

export const endSession = operation({
  id: "endSession",
  method: "GET",
  ...endingSession,
  description:
    "OpenID Connect RP-Initiated Logout 1.0. Ends the customer token of the ID token's sign-on. Without an ID token a page asks whether to sign out; Yes cancels this browser's unfinished sign-ons and ends no customer token. Latchkey never redirects to an unregistered address.",
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
  summary: "Take a shopper back who has signed out at the identity provider",
  description:
    "Register this address at the identity provider as a post-logout redirect URI, if the profile has `propagate_logout`.",
  access: "browser",
  ids: ofProfile,
  legQuery: z.object({ state: LEG.meta({ description: "The `state` that Latchkey sent" }) }),
  success: {
    status: 303,
    description: "To the storefront",
    page: "Without a valid `state`: the shopper is signed out",
  },
});
