import { sql } from "kysely";
import type { Caller } from "../../contract/caller.ts";
import type * as contract from "../../contract/customer-tokens.ts";
import type { Output } from "../../contract/operation.ts";
import { presentList } from "../../contract/paging.ts";
import { type Clock, toIso } from "../../lib/clock.ts";
import type { Page } from "../../lib/condition.ts";
import { readPage } from "../../storage/lists/page.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { getCustomer, type Mechanism } from "../customer.ts";
import { customerUrl } from "../resource.ts";
import { profileExists } from "./verify-token.ts";

/** Never contains the token itself, which is not stored. */
export const customerTokenResource = (token: Tables["customer_tokens"]) => ({
  type: "token" as const,
  id: token.id,
  customer_id: token.customer_id,
  authentication_mechanism: token.mechanism as Mechanism,
  profile_name: token.profile_name,
  expires: token.expires_at / 1000,
  meta: { timestamps: { created_at: toIso(token.created_at) } },
});

/** A page of the tokens that are valid now, oldest first. */
export async function listCustomerTokens(
  deps: { storage: Storage; clock: Clock; publicUrl: string },
  caller: Caller,
  customerId: string,
  page: Page,
): Promise<Output<typeof contract.listCustomerTokens>> {
  await getCustomer(deps, caller, customerId);
  const of = { store_id: caller.storeId, customer_id: customerId };
  const only = sql<boolean>`expires_at > ${deps.clock.now()} and ${profileExists}`;
  const { rows, place } = await readPage(deps.storage, "customer_tokens", of, page, { only });
  const data = rows.map((token) => ({
    ...customerTokenResource(token),
    browser: token.browser,
    operating_system: token.operating_system,
    network: token.network,
    current: token.id === caller.customer?.tokenId,
  }));
  return presentList(`${customerUrl(deps, customerId)}/tokens`, data, { page, place });
}
