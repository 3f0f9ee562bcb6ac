import { type Role, useSession } from "./session.ts";

/** The least role of each act. The console hides other acts, and the service refuses them. */
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

/** Explains why an act is not offered. */
export const whyNot = (role: Role, act: Act): string =>
  `You are signed in as ${role}. This is for ${NEEDS[act] === "administrator" ? "administrators" : "support and administrators"}.`;

export function useCan(): (act: Act) => boolean {
  const { role } = useSession();
  return (act) => may(role, act);
}
