import type { EventDraft } from "../events/note.ts";
import type { Tables } from "../storage/tables.ts";
import type { Customer } from "./customer.ts";
import { customerResource } from "./resource.ts";
import { customerTokenResource } from "./tokens/resource.ts";

export const customerEvent = (
  type: "customer.created" | "customer.updated",
  customer: Customer,
): EventDraft => ({
  type,
  subject: customer.id,
  personId: customer.id,
  resource: customerResource(customer),
});

export const customerTokenEvent = (
  type: "customer_token.created" | "customer_token.revoked",
  token: Tables["customer_tokens"],
): EventDraft => ({
  type,
  subject: token.id,
  personId: token.customer_id,
  resource: customerTokenResource(token),
});
