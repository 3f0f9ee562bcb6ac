import type { DuplicateEmailPolicy } from "../../realms/realm.ts";

/**
 * Who a person from an identity provider is here. The identity is (profile, issuer, subject); an e-mail never identifies
 * anybody. It links to an existing customer only when the realm says so, the provider has proven the address, and so
 * have we: an address that nobody proved may have been entered by anybody (docs/adr/0010).
 */
export type Known = {
  /** The customer that this very identity was linked to before. */
  linkedTo: string | undefined;
  /** Customers whose proven address this is; two are enough to know that there are several. */
  proven: readonly string[];
};

export type LinkPolicy = { duplicateEmail: DuplicateEmailPolicy; provisioning: "create" | "existing" };

export type Decision =
  | { action: "sign_in"; customerId: string }
  | { action: "link"; customerId: string }
  | { action: "create" }
  | { action: "refuse"; reason: LinkReason };

export type LinkReason = "email_unverified" | "email_taken" | "several_matches" | "provisioning_off";

export function link(emailVerified: boolean, known: Known, policy: LinkPolicy): Decision {
  if (known.linkedTo !== undefined) return { action: "sign_in", customerId: known.linkedTo };
  const [customerId, ...others] = known.proven;
  // An address that nobody has proven may have been entered by anybody, and must not keep its owner out.
  if (policy.duplicateEmail === "disallowed" && customerId !== undefined) return refuse("email_taken");
  if (policy.duplicateEmail === "api_only" && customerId !== undefined) {
    if (!emailVerified) return refuse("email_unverified");
    if (others.length > 0) return refuse("several_matches");
    return { action: "link", customerId };
  }
  return policy.provisioning === "create" ? { action: "create" } : refuse("provisioning_off");
}

/** Whether it matters to the policy whose proven address it is. */
export const asksForProven = ({ duplicateEmail }: LinkPolicy): boolean => duplicateEmail !== "allowed";

/** Whether every identity is signed in or gets a new customer, so that nothing need be looked up to decide. */
export const refusesNobody = (policy: LinkPolicy): boolean =>
  !asksForProven(policy) && policy.provisioning === "create";

const refuse = (reason: LinkReason): Decision => ({ action: "refuse", reason });
