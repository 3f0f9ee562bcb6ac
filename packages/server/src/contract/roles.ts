/**
 * What the store's own programs and people may do, in rising order: a role may do what the roles before it may.
 * `viewer` reads everything but secrets; `support` also revokes customer tokens, examines identity providers and sends again
 * what was not delivered; `administrator` does everything.
 */
export const ROLES = ["viewer", "support", "administrator"] as const;

export type Role = (typeof ROLES)[number];

/** A role that this release does not know may do nothing. */
export const mayActAs = (role: Role | null, least: Role | undefined): boolean =>
  role !== null && least !== undefined && ROLES.includes(role) && ROLES.indexOf(role) >= ROLES.indexOf(least);
