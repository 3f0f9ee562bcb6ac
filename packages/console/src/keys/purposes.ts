import type { Role } from "../session/session.ts";

export type Purpose = (typeof PURPOSES)[number]["value"];

/** The purposes of a new key. Each has the lowest role that is enough for it. */
export const PURPOSES = [
  {
    value: "storefront",
    role: "viewer",
    label: "A storefront: customers sign in",
    why: "It needs only the client ID, which is public. The secret is not used and can only read (viewer).",
  },
  {
    value: "reads",
    role: "viewer",
    label: "A program that reads",
    why: "For reports and monitoring: it can read everything except secrets, and change nothing (viewer).",
  },
  {
    value: "support",
    role: "support",
    label: "A support tool",
    why: "It can also end sessions, check and test providers, and send webhook messages again (support).",
  },
  {
    value: "administers",
    role: "administrator",
    label: "A program that administers",
    why: "It can do everything: create customers, keys and providers, change limits, and erase (administrator).",
  },
] as const satisfies readonly { value: string; role: Role; label: string; why: string }[];

/** A viewer, if nothing is known. */
export const roleFor = (purpose: Purpose | undefined): Role =>
  PURPOSES.find(({ value }) => value === purpose)?.role ?? "viewer";
