import { z } from "zod";
import { operation } from "./operation.ts";
import { resource } from "./resource.ts";
import { id, pageOf, textOrNull, timestamp } from "./shapes.ts";

/**
 * RFC 7636, section 4.1. Checked before the code is looked up, so that a malformed verifier does not use up the code.
 */
export const codeVerifier = z
  .string()
  .regex(/^[A-Za-z0-9\-._~]{43,128}$/, { error: "43 to 128 letters, digits or - . _ ~ (RFC 7636 4.1)" });

const withCode = z.object({
  type: z.literal("token"),
  authentication_mechanism: z.literal("oidc"),
  oauth_authorization_code: z
    .string()
    .min(1)
    .max(4096)
    .describe("The `code` of the redirect to the storefront"),
  oauth_redirect_uri: z
    .string()
    .min(1)
    .max(2048)
    .meta({ description: "The same as in the authorization request", format: "uri" }),
  oauth_code_verifier: codeVerifier,
});

const withPassword = z.object({
  type: z.literal("token"),
  authentication_mechanism: z.enum(["email", "password"]).optional(),
  email: z
    .string()
    .max(1024)
    .meta({ examples: ["ada@shop.example"] }),
  password: z
    .string()
    .max(1024)
    .meta({ examples: ["correct horse battery"] }),
});

const token = z
  .strictObject({
    type: z.literal("token"),
    id,
    customer_id: id,
    token: z.string().describe("Send it as `X-Customer-Token`"),
    expires: z.int().describe("Seconds since 1970"),
  })
  .meta({ id: "CustomerToken" });

export const codeProblems = [
  "code_invalid",
  "code_expired",
  "code_already_used",
  "redirect_uri_mismatch",
  "verifier_mismatch",
  "sign_on_refused",
] as const;

export const issueCustomerToken = operation({
  id: "issueCustomerToken",
  tag: "Customer tokens",
  method: "POST",
  path: "/v2/customers/tokens",
  summary: "Sign a customer in: get a customer token",
  description:
    "`oidc` redeems the code of a sign-on through an identity provider; `email` or `password`, or no mechanism at all, takes an e-mail and a password. The answer is the same for both. " +
    "With `Idempotency-Key`, the same request may be repeated for 30 seconds and gets the same answer.",
  access: ["customer_tokens", "create"],
  role: "administrator",
  idempotent: true,
  body: {
    schema: z.object({
      data: z.discriminatedUnion("authentication_mechanism", [withCode, withPassword]).meta({
        examples: [
          {
            type: "token",
            authentication_mechanism: "password",
            email: "ada@shop.example",
            password: "correct horse battery",
          },
        ],
      }),
    }),
  },
  success: { status: 200, description: "The customer token", schema: z.strictObject({ data: token }) },
  problems: [
    ...codeProblems,
    "idp_unavailable",
    "credentials_wrong",
    "sign_in_attempts_exceeded",
    "password_queue_full",
  ],
});

const ofCustomer = { customer: "customer_not_found" } as const;
const tokens = resource({
  tag: "Customer tokens",
  access: "customer_tokens",
  path: "/v2/customers/{customer}/tokens",
  ids: { ...ofCustomer, id: "customer_token_not_found" },
});

export const listCustomerTokens = operation({
  id: "listCustomerTokens",
  ...tokens.list,
  summary: "List a customer's valid tokens",
  description: "The valid tokens: id, time, method, browser and expiry; never the token itself.",
  access: ["customer_tokens", "own"],
  ids: ofCustomer,
  success: {
    status: 200,
    description: "One page of valid tokens, oldest first; never the tokens themselves",
    schema: pageOf(
      z.strictObject({
        type: z.literal("token"),
        id,
        customer_id: id,
        authentication_mechanism: z.enum(["password", "oidc"]),
        profile_name: textOrNull.describe("The identity provider that was used"),
        browser: textOrNull.describe(
          "The browser that requested the token, such as `Chrome 126`. Null: a server, or unknown",
        ),
        operating_system: textOrNull.describe("Such as `Windows`"),
        network: textOrNull.describe("The network of that request, as /24 or /64"),
        current: z.boolean().describe("Whether this request used this token"),
        expires: z.int().describe("Seconds since 1970"),
        meta: z.strictObject({ timestamps: z.strictObject({ created_at: timestamp }) }),
      }),
    ),
  },
});

export const revokeCustomerTokens = operation({
  id: "revokeCustomerTokens",
  tag: "Customer tokens",
  method: "DELETE",
  path: "/v2/customers/{customer}/tokens",
  summary: "Sign a customer out everywhere",
  description: "Ends all customer tokens of the customer. A code that is not redeemed yet stays valid.",
  access: ["customer_tokens", "own"],
  role: "support",
  ids: ofCustomer,
  success: { status: 204, description: "All tokens of the customer are revoked" },
});

export const revokeCustomerToken = operation({
  id: "revokeCustomerToken",
  ...tokens.delete,
  summary: "Revoke one of a customer's tokens",
  description: "Ends one session. Every instance refuses the token within a second.",
  access: ["customer_tokens", "own"],
  role: "support",
  success: { status: 204, description: "The token is revoked" },
});
