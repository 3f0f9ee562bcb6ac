import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/customers.ts";
import type { Input, Output } from "../contract/operation.ts";
import { pageOf, toPage } from "../contract/paging.ts";
import { toIso } from "../lib/clock.ts";
import type { Condition } from "../lib/condition.ts";
import { parseEmail } from "../lib/email-address.ts";
import { type Given, given } from "../lib/given.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import { type Customer, type CustomerRow, customerOf, getCustomer } from "./customer.ts";

/** The members of the body that a request can write. */
export type CustomerChange = Omit<Input<typeof contract.updateCustomer>["body"]["data"], "type">;
export type NewCustomer = Omit<Input<typeof contract.createCustomer>["body"]["data"], "type">;

type PublicUrl = { publicUrl: string };
type Deps = PublicUrl & { storage: Storage };

const URL_PATH = "/v2/customers";

export const customerUrl = ({ publicUrl }: PublicUrl, customerId: string): string =>
  `${publicUrl}${URL_PATH}/${customerId}`;

/** `password` and `email_verified` are missing: their columns also depend on the caller (administer.ts). */
export const toColumns = ({ name, email, external_ref }: CustomerChange): Given<CustomerRow> =>
  given({ name, email: email?.shown, email_key: email?.key, external_ref });

export const customerResource = (customer: Customer): Output<typeof contract.getCustomer>["data"] => ({
  id: customer.id,
  type: "customer",
  name: customer.name,
  email: customer.email,
  password: customer.password_hash !== null,
  external_ref: customer.external_ref,
  authentication_mechanism: customer.authentication_mechanism,
  email_verified: customer.email_verified,
  meta: { timestamps: { created_at: toIso(customer.created_at), updated_at: toIso(customer.updated_at) } },
});

export const customerAnswer = (deps: PublicUrl, customer: Customer): Output<typeof contract.getCustomer> => ({
  data: customerResource(customer),
  links: { self: customerUrl(deps, customer.id) },
});

export const showCustomer = async (deps: Deps, caller: Caller, customerId: string) =>
  customerAnswer(deps, await getCustomer(deps, caller, customerId));

export async function listCustomers(
  { storage, publicUrl }: Deps,
  storeId: string,
  query: Input<typeof contract.listCustomers>["query"],
): Promise<Output<typeof contract.listCustomers>> {
  const page = toPage(query);
  const { filter: conditions = [], sort } = query;
  const compared = { conditions: conditions.map(asCompared), sort };
  const { rows, place } = await readPage(storage, "customers", { store_id: storeId }, page, compared);
  const data = rows.map((row) => customerResource(customerOf(row)));
  return pageOf(`${publicUrl}${URL_PATH}`, data, { page, place, conditions, sort });
}

/**
 * An e-mail in the form of `email_key`. A part of an address is only put in lower case. An address contains no space,
 * so a space is a plus sign that the client did not encode.
 */
function asCompared(condition: Condition): Condition {
  if (condition.field !== "email") return condition;
  const text = String(condition.value).replaceAll(" ", "+");
  const key = condition.operator === "eq" ? parseEmail(text)?.key : undefined;
  return { ...condition, value: key ?? text.toLowerCase() };
}
