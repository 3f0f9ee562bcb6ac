import { z } from "zod";
import { operation } from "./operation.ts";
import { ROLES } from "./roles.ts";

const id = z.uuid();

export const checkAtGateway = operation({
  id: "checkAtGateway",
  tag: "Gateway",
  method: "GET",
  path: "/gateway/check",
  everywhereBelow: true,
  summary: "Whether a gateway may let a request pass to another service",
  description:
    "For nginx `auth_request`, Caddy `forward_auth`, Traefik ForwardAuth and Envoy ext_authz. Answers every method, at this path and " +
    "at every path below it. There the query can be that of the client's request: its conditions can only refuse more. A member's token gets 403: it is for the console and this API. " +
    "Each check counts as one request in the limits of key and store. A customer token is sent in `X-Customer-Token`; a valid one is cached for up to a second. The body is not read. " +
    "Envoy does not accept 204. If the request has `X-Latchkey-Answer: 200`, the status is 200.",
  access: ["gateway", "own"],
  role: "viewer",
  // Strict, so that a misspelt condition is refused and not ignored.
  query: z.strictObject({
    customer: z.literal("required").optional().describe("403 without a valid customer token"),
    grant: z.literal("client_credentials").optional().describe("403 for any other access token"),
    role: z
      .enum(["support", "administrator"])
      .optional()
      .describe("403 for a program with a lower role, and for an access token that has none"),
  }),
  success: {
    status: 204,
    // Gateways accept any 2xx as yes. Envoy accepts 200 only, and its configuration requests it (ADR 43).
    statusOnRequest: 200,
    description:
      "The request may pass. The headers identify its sender: pass them on, and remove headers of these names that clients send",
    fields: z.strictObject({
      "X-Latchkey-Store": id,
      "X-Latchkey-Application-Key": id,
      "X-Latchkey-Grant": z.enum(["implicit", "client_credentials"]),
      "X-Latchkey-Role": z
        .enum(ROLES)
        .optional()
        .describe("The application key's role, of a `client_credentials` token; an implicit token has none"),
      "X-Latchkey-Customer": id.optional(),
      "X-Latchkey-Realm": id.optional(),
    }),
  },
  problems: ["not_permitted", "role_insufficient", "customer_token_invalid", "customer_token_missing"],
});
