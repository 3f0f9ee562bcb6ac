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
  authentication_mechanism: z.enum(["password", "oidc"]).describe("How the customer was created"),
  email_verified: z.boolean().describe("Whether the customer's e-mail is verified"),
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
      "Counts only from `client_credentials`; a changed e-mail is unverified unless this is true. `true` without `email` verifies the customer's current address: send the verified address as `email` too, or `If-Match`",
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
  description:
    "`filter` selects, `sort` orders; `links.next` leads to the next page, in a list of any length.",
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
      "newest first; with a filter on the beginning of a field, or on its time, in the order of that field",
    ),
  }),
  success: {
    status: 200,
    description:
      "One page of customers. Without `sort`: newest first; with a filter on `updated_at`, or on the beginning of a name or an e-mail, in the order of that field",
    schema: listOf(customerMembers),
  },
  problems: ["filter_too_wide"],
});

export const createCustomer = operation({
  id: "createCustomer",
  ...customers.create,
  summary: "Create a customer",
  description:
    "A customer without a password cannot sign in with one until it is set. Upper and lower case of e-mails count as the same. With an `implicit` token: at most 30 customers in an hour from one network and 1,000 in an hour for the store, unless the operator has set other limits.",
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
  description: "A customer token can read only its own customer.",
  access: ["customers", "own"],
  success: { status: 200, description: "The customer", ...versioned },
});

export const updateCustomer = operation({
  id: "updateCustomer",
  ...customers.update,
  summary: "Change a customer",
  description:
    "Absent members stay unchanged. `password: true` or `false`, as in answers, changes nothing. A new password ends the customer's other sessions, but not the session of this request. Only the back office can set a password for a customer with `authentication_mechanism` `oidc`. With a customer token at most 60 changes in an hour. Send the `ETag` of what you read as `If-Match`, so that you do not overwrite another person's change.",
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
  description: "Also deletes its customer tokens and its identities.",
  access: ["customers", "own"],
  success: { status: 204, description: "The customer is deleted" },
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
  summary: "List a customer's identities",
  description:
    "The customer's subject at each provider. A person who signs in with that subject is signed in as this customer. A customer token can read only its own customer's. At most 100, oldest first.",
  access: ["customers", "own"],
  success: {
    status: 200,
    description: "The identities; empty if the customer has never signed in through a provider",
    schema: z.strictObject({
      data: z.array(customerIdentity),
    }),
  },
});

export const eraseCustomer = operation({
  id: "eraseCustomer",
  ...customers.action("erase"),
  summary: "Erase a customer: delete it, and remove its data from the event log",
  description:
    "For a person who asks for erasure. Deletes the customer, if it still exists. In every event about it, `data` becomes `(erased)` and the " +
    "salt is deleted; numbers, hashes and digests stay, so that the log can still be verified. It cannot be undone.",
  success: { status: 200, description: "The progress of the erasure", schema: erasureOf("customer-erasure") },
});
