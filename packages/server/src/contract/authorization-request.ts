import { z } from "zod";
import { limits } from "./limits.ts";

/** A parameter of a browser leg that can be absent. */
export const LEG = z.string().optional();

const passedOn = (maxLength: number) => z.string().max(maxLength).optional();

const profileParameter = LEG.meta({
  description: "Which identity provider; without it the only one there is, or a page to choose one",
  format: "uuid",
});

/** The storefront's authorization request (RFC 6749, section 4.1.1; OpenID Connect Core, section 3.1.2.1). */
export const authorizeParameters = z.object({
  profile: profileParameter,
  scope: z.string().meta({
    description:
      "With `openid` and `email`; with `profile` UserInfo says the name too. Others are ignored. A `standard` application key may leave out `email`",
    examples: ["openid email"],
  }),
  response_type: z.literal("code"),
  client_id: z.string().meta({
    description: "That of the customer authentication settings, or of an application key of the store",
    examples: ["customers"],
  }),
  redirect_uri: z.string().meta({
    description: "One of the realm's `redirect_uris`, byte for byte",
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
        "RFC 7636 4.2. A `standard` application key may leave out challenge and method where it sends a `nonce`",
      examples: ["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
    }),
  nonce: LEG.meta({ description: "At most 512 characters; comes back in the ID token" }),
  max_age: LEG.meta({
    type: "string",
    pattern: "^[0-9]{1,10}$",
    description:
      "Seconds. Passed on; the ID token then has the `auth_time` that the identity provider states, and one that is older, or none, is `login_required`",
  }),
  id_token_hint: LEG.meta({
    description:
      "Of a `standard` application key: an ID token of this realm, also one that has expired. When anybody but its customer signs on, the answer is `login_required`. Others' is ignored",
  }),
  display: passedOn(limits.displayLength).meta({ description: "Passed on unchanged" }),
  prompt: passedOn(limits.promptLength).meta({ description: "Passed on unchanged" }),
  login_hint: passedOn(limits.loginHintLength).meta({
    description: "Who the shopper is likely to be, such as an e-mail address. Passed on unchanged",
  }),
  ui_locales: passedOn(limits.uiLocalesLength).meta({
    description:
      "Languages in the order of wish. Passed on unchanged; our own pages speak the first that they know of `en`, `de`, `fr`, `es` and `ja`, or what the browser prefers",
  }),
});
