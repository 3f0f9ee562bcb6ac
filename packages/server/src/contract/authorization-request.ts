import { z } from "zod";
import { limits } from "./limits.ts";

/** A parameter of a browser leg that can be absent. */
export const LEG = z.string().optional();

const passedOn = (maxLength: number) => z.string().max(maxLength).optional();

const profileParameter = LEG.meta({
  description:
    "The id of the identity provider's profile. Without it: the realm's only provider, or a page to choose one",
  format: "uuid",
});

/** The storefront's authorization request (RFC 6749, section 4.1.1; OpenID Connect Core, section 3.1.2.1). */
export const authorizeParameters = z.object({
  profile: profileParameter,
  scope: z.string().meta({
    description:
      "Must contain `openid` and `email`; with `profile`, UserInfo has the name too. Others are ignored. A `standard` application key may leave out `email`",
    examples: ["openid email"],
  }),
  response_type: z.literal("code"),
  client_id: z.string().meta({
    description:
      "The client id of the customer authentication settings, or of an application key of the store",
    examples: ["customers"],
  }),
  redirect_uri: z.string().meta({
    description: "Exactly one of the realm's `redirect_uris`",
    format: "uri",
    examples: ["https://shop.example/signed-in"],
  }),
  state: z
    .string()
    .max(limits.clientStateLength)
    .meta({
      description: "A random value, new for each sign-on; comes back unchanged",
      examples: ["Zr1Vq0mRkC8"],
    }),
  code_challenge_method: z.literal("S256"),
  code_challenge: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/)
    .meta({
      description:
        "RFC 7636 4.2. A `standard` application key may leave out challenge and method if it sends a `nonce`",
      examples: ["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
    }),
  nonce: LEG.meta({ description: "At most 512 characters; comes back in the ID token" }),
  max_age: LEG.meta({
    type: "string",
    pattern: "^[0-9]{1,10}$",
    description:
      "Seconds. Sent to the identity provider. The ID token then has the provider's `auth_time`. If it is missing or older, the error is `login_required`",
  }),
  id_token_hint: LEG.meta({
    description:
      "Only for a `standard` application key: an ID token of this realm, expired or not. If another customer signs on, the error is `login_required`. Ignored for other clients",
  }),
  display: passedOn(limits.displayLength).meta({ description: "Sent to the identity provider unchanged" }),
  prompt: passedOn(limits.promptLength).meta({ description: "Sent to the identity provider unchanged" }),
  login_hint: passedOn(limits.loginHintLength).meta({
    description: "The expected shopper, such as an e-mail address. Sent to the identity provider unchanged",
  }),
  ui_locales: passedOn(limits.uiLocalesLength).meta({
    description:
      "Languages in order of preference. Sent to the identity provider unchanged. Latchkey's pages use the first supported one of `en`, `de`, `fr`, `es` and `ja`, or the browser's language",
  }),
});
