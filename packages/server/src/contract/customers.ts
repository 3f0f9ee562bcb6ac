import { z } from "zod";
import { filterParameter, instant, pattern, sortParameter, text } from "./filter.ts";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { answerOf, bodyOf, erasureOf, listOf, resource } from "./resource.ts";
import { emailAddress, id, name, pageQuery, textOrNull, timestamp } from "./shapes.ts";

const customerMembers = {
  id,
  type: z.literal("customer"),
  name: z.string(),
  email: z.string(),
  password: z.boolean().describe("Whether the customer has a password; never the password itself"),
  external_ref: textOrNull.describe("The customer's id in another system"),
  authentication_mechanism: z.enum(["password", "oidc"]).describe("How the customer came to be"),
  email_verified: z.boolean().describe("Whether the address was proven to be the customer's"),
  meta: z.strictObject({ timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }) }),
};

export const customer = z.strictObject(customerMembers).meta({ id: "Customer" });
const customerAnswer = answerOf(customer);

const versioned = {
  schema: customerAnswer,
  version: ({ data }: z.input<typeof customerAnswer>): string => data.meta.timestamps.updated_at,
};

const newPassword = z
  .string()
  .min(8)
  .max(limits.passwordLength)
  .meta({ description: "8 to 128 characters", examples: ["correct horse battery"] });

const writable = {
  password: newPassword.optional(),
  external_ref: z
    .string()
    .min(1)
    .max(limits.externalRefLength)
    .regex(/^\P{Cc}*$/u, { error: "no control characters" })
    .nullable()
    .optional(),
  email_verified: z
    .boolean()
    .optional()
    .describe(
      "Counts only from `client_credentials`; a changed e-mail is unproven unless this says otherwise. `true` alone proves the address that the customer has by then: send the address that was proven as `email` beside it, or `If-Match`",
    ),
};

/** A client that sends back a resource sends back this member, which says nothing about a new password. */
const changedPassword = z
  .preprocess(
    (given: string | undefined) => (typeof given === "boolean" ? undefined : given),
    newPassword.optional(),
  )
  .optional();

export const customers = resource({
  tag: "Customers",
  access: "customers",
  path: "/v2/customers",
  ids: { id: "customer_not_found" },
});

export const listCustomers = operation({
  id: "listCustomers",
  ...customers.list,
  summary: "List the store's customers",
  description: "`filter` narrows, `sort` orders; `links.next` leads through a list of any length.",
  query: pageQuery.extend({
    filter: filterParameter({
      email: pattern(limits.emailLength),
      name: pattern(limits.nameLength),
      external_ref: text,
      created_at: instant,
      updated_at: instant,
    }),
    sort: sortParameter(
      ["created_at", "updated_at", "name", "email", "id"],
      "the newest first, or in the order of the field whose beginning, or whose time, it is narrowed by",
    ),
  }),
  success: {
    status: 200,
    description:
      "One page of customers. Unless `sort` says otherwise newest first; or, narrowed by how a name or an e-mail begins or by `updated_at`, in the order of that",
    schema: listOf(customerMembers),
  },
  problems: ["filter_too_wide"],
});

export const createCustomer = operation({
  id: "createCustomer",
  ...customers.create,
  summary: "Create a customer",
  description:
    "Without a password the customer cannot sign in with one until it is set. E-mails are compared without regard to case. With an `implicit` token: at most 30 in an hour from one network and 1,000 in an hour for the store, unless the operator has set other limits.",
  access: ["customers", "create"],
  body: bodyOf({
    type: z.literal("customer"),
    name: name.meta({ examples: ["Ada Lovelace"] }),
    email: emailAddress,
    ...writable,
  }),
  success: { status: 201, description: "The customer", ...versioned },
  problems: ["email_taken", "password_queue_full", "sign_ups_exceeded"],
});

export const getCustomer = operation({
  id: "getCustomer",
  ...customers.get,
  summary: "Get a customer",
  description: "With a customer token: oneself, and nobody else.",
  access: ["customers", "own"],
  success: { status: 200, description: "The customer", ...versioned },
});

export const updateCustomer = operation({
  id: "updateCustomer",
  ...customers.update,
  summary: "Change a customer",
  description:
    "Members that are absent stay as they are, and so does a password of which only true or false is said, as answers do. A new password ends the customer's other sessions: every customer token but the one that this request came with. Whose `authentication_mechanism` is `oidc` gets a password from the back office only. With a customer token at most 60 changes in an hour. Send the `ETag` of what you read as `If-Match`, and nothing is changed that you have not seen.",
  access: ["customers", "own"],
  body: bodyOf({
    type: z.literal("customer"),
    name: name.optional(),
    email: emailAddress.optional(),
    ...writable,
    password: changedPassword,
  }),
  conditional: true,
  success: { status: 200, description: "The customer as it is now", ...versioned },
  problems: [
    "email_taken",
    "customer_changed",
    "password_by_back_office_only",
    "password_queue_full",
    "own_changes_exceeded",
  ],
});

export const deleteCustomer = operation({
  id: "deleteCustomer",
  ...customers.delete,
  summary: "Delete a customer",
  description: "Its customer tokens and its links to identity providers go with it.",
  access: ["customers", "own"],
  success: { status: 204, description: "The customer is gone" },
});

export const customerIdentity = z
  .strictObject({
    type: z.literal("customer-identity"),
    id,
    customer_id: id,
    realm_id: id,
    profile_id: id.describe("The profile that they first came through"),
    profile_name: textOrNull.describe("Null: it was removed"),
    issuer: z.string(),
    subject: z.string(),
    meta: z.strictObject({ timestamps: z.strictObject({ created_at: timestamp }) }),
  })
  .meta({ id: "CustomerIdentity" });

export const listCustomerIdentities = operation({
  id: "listCustomerIdentities",
  ...customers.part("identities"),
  summary: "List who a customer is at the identity providers",
  description:
    "What each provider calls this customer: who comes back as that subject is signed in as them. With a customer token: one's own. At most 100, the oldest first.",
  access: ["customers", "own"],
  success: {
    status: 200,
    description: "The identities; none where the customer has never come through a provider",
    schema: z.strictObject({
      data: z.array(customerIdentity),
    }),
  },
});

export const eraseCustomer = operation({
  id: "eraseCustomer",
  ...customers.action("erase"),
  summary: "Erase a customer: delete it, and take its data out of the log of events",
  description:
    "For somebody who asks to be forgotten. The customer is deleted if it is still there. In every event about it `data` becomes `(erased)` and the " +
    "salt goes; numbers, hashes and digests stay, so that the log still verifies. It cannot be undone.",
  success: { status: 200, description: "How far it has come", schema: erasureOf("customer-erasure") },
});
