import { ApiError, type Customer, type CustomerToken } from "@latchkey/sdk";
import { forgetToken, keepToken, keptToken } from "./kept-token.ts";
import { latchkey } from "./latchkey.ts";

/**
 * The page's visitor. Latchkey decides whether the stored token works: it may be revoked, and this machine's
 * clock may be wrong about its expiry.
 */
export type Visitor =
  | { is: "stranger" }
  | { is: "customer"; customer: Customer; token: CustomerToken }
  /** The stored token does not work any more. */
  | { is: "signed-out" }
  /** Latchkey did not answer. */
  | { is: "unknown"; failure: unknown };

export async function visitor(): Promise<Visitor> {
  const kept = keptToken();
  if (!kept) return { is: "stranger" };
  const { token } = kept;
  try {
    const shop = await latchkey();
    const customer = await shop.customer(token).get();
    if (keptToken()?.token.id === token.id) keepToken(token, nameOf(customer));
    return { is: "customer", customer, token };
  } catch (failure) {
    return hasEnded(failure) ? signedOut(token) : { is: "unknown", failure };
  }
}

/** Keeps a newer token, which another tab may have stored. */
function signedOut(token: CustomerToken): Visitor {
  if (keptToken()?.token.id === token.id) forgetToken();
  return { is: "signed-out" };
}

const ENDED = new Set<string>(["customer_token_invalid", "customer_not_found"]);

export const hasEnded = (failure: unknown): boolean => failure instanceof ApiError && ENDED.has(failure.code);

export const nameOf = ({ name, email }: Pick<Customer, "name" | "email">): string =>
  name || email || "Your account";
