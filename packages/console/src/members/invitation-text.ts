import type { Member } from "@latchkey/sdk/admin";
import type { Role } from "../session/session.ts";

const MAY: Record<Role, string> = {
  viewer: "You can read everything except secrets, and change nothing.",
  support:
    "You can read everything except secrets, end customers’ sessions, check providers, make test sign-ons, and send deliveries again.",
  administrator: "You can do everything, including changes to keys, providers, limits and members.",
};

type Invited = {
  member: Pick<Member, "name" | "email" | "role">;
  store: { id: string; name: string };
  /** The member who invites. Undefined for a session with a key, whose name tells the invited person nothing. */
  by: string | undefined;
  /** The names of the providers through which members sign in. */
  providers: readonly string[];
  origin: string;
};

/** The text for an invited member, to be sent by the person who invites: Latchkey sends no mail. */
export function invitationOf({ member, store, by, providers, origin }: Invited) {
  const { name, email, role } = member;
  const anyProvider = providers.length > 0 ? orOf(providers) : "the identity provider of the store";
  const lines = [
    // Without a name the address is the member's name.
    name === email ? "Hello," : `Hello ${name},`,
    "",
    `${by ? `${by} has given you` : "You have been given"} access to the console of ${store.name}, in the role ${role}. ${MAY[role]}`,
    "",
    "How to sign in:",
    `1. Open ${addressOf(store.id, origin)}`,
    "2. Press “Sign in as a member”.",
    `3. Sign in at ${anyProvider} with the account that has the e-mail address ${email}. You need no new password.`,
    "",
    `Later, ${origin}/console/ is enough: your browser remembers the store.`,
  ];
  return { subject: `Your access to ${store.name}`, text: `${lines.join("\n")}\n` };
}

/** The shortest address that leads to the store whichever stores the service has. */
export const addressOf = (store: string, origin: string): string =>
  `${origin}/console/sign-in?store=${store}`;

const orOf = (names: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format(names);

/** The lines of a body end with CR LF (RFC 6068, section 5). */
export const mailTo = (email: string, { subject, text }: { subject: string; text: string }): string =>
  `mailto:${encodeURIComponent(email).replaceAll("%40", "@")}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text.replaceAll("\n", "\r\n"))}`;
