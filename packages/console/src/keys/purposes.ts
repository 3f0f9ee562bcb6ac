import type { Role } from "../session/session.ts";

export type Purpose = (typeof PURPOSES)[number]["value"];

/** The purposes of a new key. Each has the lowest role that is enough for it. */
export const PURPOSES = [
  {
    value: "storefront",
    role: "viewer",
    label: "A storefront: customers sign in",
    why: "It needs the client id alone, which is public. The secret stays unused and may only read (viewer).",
  },
  {
    value: "reads",
    role: "viewer",
    label: "A program that reads",
    why: "Reports and monitoring: it reads everything except secrets, and changes nothing (viewer).",
  },
  {
    value: "support",
    role: "support",
    label: "A support tool",
    why: "It also ends sessions, checks and tests providers, and sends webhook messages again (support).",
  },
  {
    value: "administers",
    role: "administrator",
    label: "A program that administers",
    why: "It may do everything: create customers, keys and providers, change limits, erase (administrator).",
  },
] as const satisfies readonly { value: string; role: Role; label: string; why: string }[];

/** A viewer, if nothing is known. */
export const roleFor = (purpose: Purpose | undefined): Role =>
  PURPOSES.find(({ value }) => value === purpose)?.role ?? "viewer";
