import type { Role } from "../../session/session.ts";

/** The roles in rising order, with their rights in words. */
export const ROLES: readonly { value: Role; label: string; why: string }[] = [
  { value: "viewer", label: "Viewer", why: "Can read everything except secrets, and change nothing." },
  {
    value: "support",
    label: "Support",
    why: "Can also end sessions, check providers, make test sign-ons, and send deliveries again.",
  },
  {
    value: "administrator",
    label: "Administrator",
    why: "Can do everything, including changes to keys, providers, limits and members.",
  },
];
