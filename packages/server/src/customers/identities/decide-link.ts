import type { DuplicateEmailPolicy } from "../../realms/realm.ts";

/**
 * Decides which customer an identity (profile, issuer, subject) belongs to. An e-mail alone never identifies a
 * customer. It links an identity to an existing customer only if the realm's policy allows it, the provider has
 * verified the address, and the customer's own address is verified too (docs/adr/0010).
 */
export type LinkFacts = {
  /** The customer that this identity is linked to. */
  linkedTo: string | undefined;
  /** Customers with this verified address. Two ids are enough to show that there are several. */
  proven: readonly string[];
};

export type LinkPolicy = { duplicateEmail: DuplicateEmailPolicy; provisioning: "create" | "existing" };

export type LinkDecision =
  | { action: "sign_in"; customerId: string }
  | { action: "link"; customerId: string }
  | { action: "create" }
  | { action: "refuse"; reason: LinkReason };

export type LinkReason = "email_unverified" | "email_taken" | "several_matches" | "provisioning_off";

export function link(emailVerified: boolean, known: LinkFacts, policy: LinkPolicy): LinkDecision {
  if (known.linkedTo !== undefined) return { action: "sign_in", customerId: known.linkedTo };
  const [customerId, ...others] = known.proven;
  // Only verified addresses count: an unverified one can have been entered by a stranger, and must not keep its owner
  // out.
  if (policy.duplicateEmail === "disallowed" && customerId !== undefined) return refuse("email_taken");
  if (policy.duplicateEmail === "api_only" && customerId !== undefined) {
    if (!emailVerified) return refuse("email_unverified");
    if (others.length > 0) return refuse("several_matches");
    return { action: "link", customerId };
  }
  return policy.provisioning === "create" ? { action: "create" } : refuse("provisioning_off");
}

/** True if the policy depends on the customers with this verified address. */
export const asksForProven = ({ duplicateEmail }: LinkPolicy): boolean => duplicateEmail !== "allowed";

/** True if every identity is signed in or gets a new customer, so that the decision needs no lookup. */
export const refusesNobody = (policy: LinkPolicy): boolean =>
  !asksForProven(policy) && policy.provisioning === "create";

const refuse = (reason: LinkReason): LinkDecision => ({ action: "refuse", reason });
