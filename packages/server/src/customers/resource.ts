import type { Caller } from "../contract/caller.ts";
import type * as tokenContract from "../contract/customer-tokens.ts";
import type * as contract from "../contract/customers.ts";
import type { Input, Output } from "../contract/operation.ts";
import { presentPage, presentPageLinks, toListParameters } from "../contract/paging.ts";
import { toIso } from "../lib/clock.ts";
import type { Tables } from "../storage/tables.ts";
import type { CustomerChange, NewCustomer } from "./administer.ts";
import type { Customer, CustomerList, Mechanism } from "./customer.ts";
import type { TokenList } from "./tokens/issue-token.ts";

type Where = { publicUrl: string };

const listUrl = (publicUrl: string): string => `${publicUrl}/v2/customers`;
const selfUrl = (publicUrl: string, customerId: string): string => `${listUrl(publicUrl)}/${customerId}`;

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

export const presentCustomer = (
  { publicUrl }: Where,
  customer: Customer,
): Output<typeof contract.getCustomer> => ({
  data: customerResource(customer),
  links: { self: selfUrl(publicUrl, customer.id) },
});

export const presentCustomerList = (
  { publicUrl }: Where,
  { customers, place, page, conditions, sort }: CustomerList,
): Output<typeof contract.listCustomers> => ({
  data: customers.map((customer) => ({
    ...customerResource(customer),
    links: { self: selfUrl(publicUrl, customer.id) },
  })),
  meta: presentPage(page, place),
  links: presentPageLinks(listUrl(publicUrl), page, place, toListParameters(conditions, sort)),
});

export const toCustomerChange = ({
  data,
}: Input<typeof contract.updateCustomer>["body"]): CustomerChange => ({
  name: data.name,
  email: data.email,
  password: data.password,
  external_ref: data.external_ref,
  email_verified: data.email_verified,
});

export const toNewCustomer = ({ data }: Input<typeof contract.createCustomer>["body"]): NewCustomer => ({
  ...toCustomerChange({ data }),
  name: data.name,
  email: data.email,
});

/** Never the token itself. */
export const presentToken = (token: Tables["customer_tokens"]) => ({
  type: "token" as const,
  id: token.id,
  customer_id: token.customer_id,
  authentication_mechanism: token.mechanism as Mechanism,
  profile_name: token.profile_name,
  expires: token.expires_at / 1000,
  meta: { timestamps: { created_at: toIso(token.created_at) } },
});

export const presentTokenList = (
  { publicUrl }: Where,
  caller: Caller,
  { tokens, place, page, customerId }: TokenList,
): Output<typeof tokenContract.listCustomerTokens> => ({
  data: tokens.map((token) => ({
    ...presentToken(token),
    browser: token.browser,
    operating_system: token.operating_system,
    network: token.network,
    current: token.id === caller.customer?.tokenId,
  })),
  meta: presentPage(page, place),
  links: presentPageLinks(`${selfUrl(publicUrl, customerId)}/tokens`, page, place),
});
