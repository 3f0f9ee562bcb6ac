import { z } from "zod";
import { clientFields, clientProblems } from "./access-tokens.ts";
import { operation } from "./operation.ts";
import { ofRealm, REALM } from "./sign-on.ts";

export const revokeAtRealm = operation({
  id: "revokeAtRealm",
  tag: "Sign-on",
  method: "POST",
  path: `${REALM}/revoke`,
  summary: "End a customer token as an OpenID Connect client (RFC 7009)",
  description:
    "Takes the customer tokens that this realm has given to the client that asks: the public client of the customer authentication settings, which sends its `client_id`, or an application key with its secret. Any other token also answers 200, and lives on.",
  access: "client",
  ids: ofRealm,
  body: {
    form: true,
    schema: z.object({
      token: z.string().min(1).max(4096),
      token_type_hint: z.string().max(1024).optional(),
      ...clientFields,
    }),
  },
  success: { status: 200, description: "The token does not work any more", schema: z.strictObject({}) },
  // A client id without the form of an application key's id is compared with the settings' client id only.
  problems: ["sign_on_client_unknown", ...clientProblems.filter((code) => code !== "client_id_mistyped")],
});
