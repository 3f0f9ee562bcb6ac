import { roleInsufficient } from "../access/role-insufficient.ts";
import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/gateway.ts";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { mayActAs } from "../contract/roles.ts";

type Conditions = Input<typeof contract.checkAtGateway>["query"];

/** The gate has checked the token, as for every route. This checks the conditions that the gateway adds. */
export function checkAtGateway(
  { storeId, holder, grant, role, customer }: Caller,
  conditions: Conditions,
): Output<typeof contract.checkAtGateway> {
  // The gate refuses members already; this narrows the type.
  if (grant === "member") throw new Problem("not_permitted");
  if (conditions.grant !== undefined && grant !== conditions.grant) throw new Problem("not_permitted");
  if (conditions.role !== undefined) {
    // An implicit token has no role and can get none.
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
