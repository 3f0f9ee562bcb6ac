import { roleInsufficient } from "../access/role-insufficient.ts";
import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/gateway.ts";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { mayActAs } from "../contract/roles.ts";

type Conditions = Input<typeof contract.checkAtGateway>["query"];

/** Who may pass was decided by the gate, as for our own routes. What is left is what this gateway asks for on top. */
export function checkAtGateway(
  { storeId, holder, grant, role, customer }: Caller,
  conditions: Conditions,
): Output<typeof contract.checkAtGateway> {
  // The gate has refused members, who are no program and no customer.
  if (grant === "member") throw new Problem("not_permitted");
  if (conditions.grant !== undefined && grant !== conditions.grant) throw new Problem("not_permitted");
  if (conditions.role !== undefined) {
    // An implicit token has no role, and no administrator could give it one.
    if (grant === "implicit") throw new Problem("not_permitted");
    if (!mayActAs(role, conditions.role)) throw roleInsufficient(role, conditions.role);
  }
  if (conditions.customer === "required" && !customer) throw new Problem("customer_token_missing");
  return {
    "X-Latchkey-Store": storeId,
    "X-Latchkey-Application-Key": holder.id,
    "X-Latchkey-Grant": grant,
    ...(role && { "X-Latchkey-Role": role }),
    ...(customer && { "X-Latchkey-Customer": customer.customerId, "X-Latchkey-Realm": customer.realmId }),
  };
}
