import { z } from "zod";
import { customer, customerIdentity, customers } from "./customers.ts";
import { event } from "./events.ts";
import { operation } from "./operation.ts";
import { id, textOrNull, timestamp } from "./shapes.ts";
import { signOn } from "./sign-ons.ts";

const earlier = z.strictObject({
  member: z.enum(["name", "email"]),
  value: z.string(),
  until: timestamp.describe("When another value took its place"),
});

const session = z.strictObject({
  type: z.literal("token"),
  id,
  authentication_mechanism: z.enum(["password", "oidc"]),
  profile_id: id.nullable(),
  profile_name: textOrNull,
  subject: textOrNull.describe("The identity provider's name for the person"),
  idp_session: textOrNull.describe("The identity provider's name for the session"),
  browser: textOrNull,
  operating_system: textOrNull,
  network: textOrNull,
  expires: z.int().describe("Seconds since 1970"),
  meta: z.strictObject({ timestamps: z.strictObject({ created_at: timestamp }) }),
});

export const exportCustomer = operation({
  id: "exportCustomer",
  ...customers.part("export"),
  role: "administrator",
  summary: "Export everything that is kept of a customer, as a file",
  description:
    "For a person who asks which data about them is kept. The export is an event itself, `customer.exported`, without the data. A customer who was " +
    "deleted can be exported while the log or a record still holds their data; one who was erased is 404. A file that breaks off has no end of its JSON.",
  success: {
    status: 200,
    description: "The person's data; a file to save",
    attachment: "customer",
    schema: z.strictObject({
      data: z
        .strictObject({
          type: z.literal("customer-export"),
          id,
          exported_at: timestamp,
          customer: customer.nullable().describe("Null: deleted"),
          identities: z.array(customerIdentity).describe("The person's names at identity providers"),
          sessions: z.array(session).describe("Customer tokens that are kept; never the tokens themselves"),
          earlier: z
            .array(earlier)
            .describe("Names and addresses from before, oldest first, as far as the log still holds them"),
          sign_ons: z
            .array(signOn)
            .describe(
              "The customer's sign-ons, newest first; then those under their proven address that came to no customer",
            ),
          events: z
            .array(event)
            .describe("Events about the customer and by the customer, oldest first, as far as they are kept"),
        })
        .meta({ id: "CustomerExport" }),
    }),
  },
});
