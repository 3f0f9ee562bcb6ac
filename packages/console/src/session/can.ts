import { type Role, useSession } from "./session.ts";

/** What a role may do, asked once. The service refuses the rest anyway; here it is not offered. */
const NEEDS = {
  revoke_tokens: "support",
  run_checks: "support",
  test_sign_on: "support",
  redeliver: "support",
  administer: "administrator",
} as const satisfies Record<string, Role>;

export type Act = keyof typeof NEEDS;

const RANK: Record<Role, number> = { viewer: 0, support: 1, administrator: 2 };

export const may = (role: Role, act: Act): boolean => RANK[role] >= RANK[NEEDS[act]];

/** Why something is not offered. */
export const whyNot = (role: Role, act: Act): string =>
  `You are signed in as ${role}. This is for ${NEEDS[act] === "administrator" ? "administrators" : "support and administrators"}.`;

export function useCan(): (act: Act) => boolean {
  const { role } = useSession();
  return (act) => may(role, act);
}
