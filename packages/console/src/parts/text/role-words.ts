import type { Role } from "../../session/session.ts";

/** The roles in rising order, with their rights in words. */
export const ROLES: readonly { value: Role; label: string; why: string }[] = [
  { value: "viewer", label: "Viewer", why: "Reads everything but secrets, and changes nothing." },
  {
    value: "support",
    label: "Support",
    why: "Also ends sessions, examines providers, tries a sign-on, and sends deliveries again.",
  },
  { value: "administrator", label: "Administrator", why: "Everything: keys, providers, limits, erasing." },
];
