/**
 * The roles of the store's programs and people, in rising order; each includes the roles before it. `viewer` reads
 * everything except secrets. `support` also revokes customer tokens, examines identity providers and repeats failed
 * deliveries. `administrator` does everything.
 */
export const ROLES = ["viewer", "support", "administrator"] as const;

export type Role = (typeof ROLES)[number];

/** A role from a newer release has no rights in this one. */
export const mayActAs = (role: Role | null, least: Role | undefined): boolean =>
  role !== null && least !== undefined && ROLES.includes(role) && ROLES.indexOf(role) >= ROLES.indexOf(least);
