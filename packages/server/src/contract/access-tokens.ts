import { z } from "zod";
import { codeProblems, codeVerifier } from "./customer-tokens.ts";
import { operation } from "./operation.ts";
import { id } from "./shapes.ts";

/** Longer than every token and credential of the service; longer text is refused without looking at it. */
const credential = z.string().max(1024);
const token = z.string().max(4096);

/**
 * The console's client id at the members' realm. It has no secret. Storefronts of customers use the client id of the
 * settings.
 */
export const MEMBERS_CLIENT_ID = "members";

/** The command line's client id at the members' realm. It has no secret either. */
export const CLI_CLIENT_ID = "cli";

/** The clients that redeem a member's code. An application key's client id begins with `lkid_`. */
export const isMembersClient = (clientId: string | undefined): clientId is string =>
  clientId === MEMBERS_CLIENT_ID || clientId === CLI_CLIENT_ID;

export const clientFields = {
  client_id: credential
    .optional()
    .meta({ description: "Required, unless sent by HTTP Basic authentication" }),
  client_secret: credential
    .optional()
    .meta({ description: "Required, unless sent by HTTP Basic authentication" }),
};

export const clientProblems = [
  "client_unknown",
  "client_id_mistyped",
  "client_secret_mistyped",
  "client_credentials_missing",
  "client_authenticated_twice",
  "credentials_in_url",
  "secret_rotated",
] as const;

export const issueAccessToken = operation({
  id: "issueAccessToken",
  tag: "Access tokens",
  method: "POST",
  path: "/oauth/access_token",
  summary: "Get an access token",
  description:
    "`implicit` needs a `client_id` and gives a token for storefronts, which is as public as the id. " +
    "`client_credentials` needs the secret too and gives a token for the store's back office. `authorization_code` redeems the code of " +
    "a member's sign-on: `client_id` is `members`, or `cli` for the command line, as at authorize; the code determines the store.",
  access: "client",
  body: {
    form: true,
    grants: ["implicit", "authorization_code", "client_credentials"],
    schema: z
      .object({
        grant_type: z
          .enum(["implicit", "authorization_code", "client_credentials"])
          .meta({ examples: ["client_credentials"] }),
        scope: credential.optional().meta({ description: "Not supported: leave it out" }),
        ...clientFields,
        code: token.optional().meta({ description: "For `authorization_code`" }),
        redirect_uri: token
          .optional()
          .meta({ description: "For `authorization_code`: the same as at authorize", format: "uri" }),
        code_verifier: token.optional().meta({ description: "For `authorization_code`" }),
      })
      .superRefine((body, context) => {
        if (body.grant_type !== "authorization_code") return;
        for (const member of ["code", "redirect_uri"] as const)
          if (!body[member])
            context.addIssue({ code: "custom", path: [member], message: "one that is not empty" });
        const verifier = codeVerifier.safeParse(body.code_verifier);
        for (const { message } of verifier.error?.issues ?? [])
          context.addIssue({ code: "custom", path: ["code_verifier"], message });
      }),
  },
  success: {
    status: 200,
    description: "A bearer token, valid for an hour",
    schema: z.strictObject({
      access_token: z.string(),
      token_type: z.literal("Bearer"),
      expires_in: z.int().describe("Seconds"),
      expires: z.int().describe("Seconds since 1970"),
      identifier: z.enum(["implicit", "client_credentials", "member"]).describe("The grant, or `member`"),
    }),
  },
  problems: ["scope_unknown", "members_client_unknown", ...clientProblems, ...codeProblems],
});

const active = { active: z.literal(true), token_type: z.literal("Bearer") };
const issued = { iat: z.int(), exp: z.int(), jti: id };
const tokenForm = z.object({ token, token_type_hint: credential.optional(), ...clientFields });

export const introspectToken = operation({
  id: "introspectToken",
  tag: "Access tokens",
  method: "POST",
  path: "/oauth/introspect",
  summary: "Check whether a token is valid (RFC 7662)",
  description:
    'For an unknown, expired or revoked token, and for a token of another store: `{ "active": false }`.',
  access: "client",
  body: { form: true, schema: tokenForm },
  success: {
    status: 200,
    description: "The token's kind and owner, or `active: false`",
    schema: z.union([
      z.strictObject({
        ...active,
        client_id: z.string(),
        sub: z.string().describe("The application key's id"),
        store_id: id,
        identifier: z.enum(["implicit", "client_credentials"]),
        ...issued,
      }),
      z.strictObject({
        ...active,
        client_id: z.literal(MEMBERS_CLIENT_ID),
        sub: id.describe("The member's id"),
        store_id: id,
        identifier: z.literal("member"),
        ...issued,
      }),
      z.strictObject({
        ...active,
        sub: id.describe("The customer's id"),
        store_id: id,
        identifier: z.literal("customer"),
        ...issued,
      }),
      // The last alternative, because generated clients take the first shape that fits.
      z.strictObject({ active: z.literal(false) }),
    ]),
  },
  problems: clientProblems,
});

export const revokeToken = operation({
  id: "revokeToken",
  tag: "Access tokens",
  method: "POST",
  path: "/oauth/revoke",
  summary: "Revoke a token (RFC 7009)",
  description:
    "An application key can revoke its own access tokens and, with at least the role `support`, customer tokens of its store. With `client_id=members` or `cli` (no secret), a member's token revokes itself. Any other token gets 200 too and stays valid.",
  access: "client",
  body: { form: true, schema: tokenForm },
  success: {
    status: 200,
    description: "Revoked, or not a token that this client can revoke",
    schema: z.strictObject({}),
  },
  problems: ["role_insufficient", ...clientProblems],
});
